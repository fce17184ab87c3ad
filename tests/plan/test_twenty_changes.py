"""Everyday changes of a cluster of 40 nodes with 40 manifests: what the plan says of each."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from policykit import api
from policykit.plan.plan import Plan, make_plan
from tests.clusters import policy
from tests.plan.pairs import patched

Data = dict[str, Any]
SIZES = {"cpu": 180, "memory": "1900Gi"}
BASE: Data = {
    "domain": "a.example.com",
    "kubernetes": "1.33",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "train": {
            "usage": "training", "card": "h20", "nodes": {"names": ["t[01-16]"]}, "allocatable": SIZES,
        },
        "hybrid": {"usage": "hybrid", "card": "h20", "nodes": {"names": ["h[01-08]"]}, "allocatable": SIZES},
        "infer": {
            "usage": "inference", "card": "h20", "nodes": {"names": ["i[01-12]"]}, "allocatable": SIZES,
        },
        "small": {"usage": "dev", "card": "l20", "nodes": {"names": ["s[01-04]"]}, "allocatable": SIZES},
    },
    "workloads": {
        "training": {
            "usages": ["training"], "scheduler": "volcano", "gang": "all", "queue": "research",
            "priorityClass": "high",
        },
        "inference": {"usages": ["inference", "hybrid"], "prefer": {"inference": 100}},
        "dev": {"usages": ["dev"]},
    },
    "queues": {
        "org": {"limit": {"nvidia.com/gpu": 256}},
        "research": {"parent": "org", "weight": 3, "limit": {"nvidia.com/gpu": 192}},
        "product": {"parent": "org", "limit": {"nvidia.com/gpu": 64}},
    },
    "priorities": {"high": {"value": 1000}, "low": {"value": 10}},
    "quotas": {"ml": {"namespace": "ml", "requests": {"nvidia.com/gpu": 200}}},
    "targets": {"volcano": {"version": "1.13.0"}},
}  # fmt: skip
_OBJECT = """\
apiVersion: APIVERSION
kind: KIND
metadata: {name: NAME, namespace: ml}
spec:
  REPLICAS
  template:
    metadata: {labels: {app: NAME, policykit.io/workload: WORKLOAD}}
    spec:
      containers:
        - name: a
          image: registry.example/a:1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: CARDS}}
"""


def manifest(number: int) -> str:
    kind = ("training", "inference", "inference", "dev")[number % 4]
    job = kind == "training"
    texts = {
        "APIVERSION": "batch/v1" if job else "apps/v1",
        "KIND": "Job" if job else "Deployment",
        "NAME": f"w{number:02}",
        "REPLICAS": "parallelism: 2" if job else f"selector: {{matchLabels: {{app: w{number:02}}}}}",
        "WORKLOAD": kind,
        "CARDS": "8" if job else "1",
    }
    text = _OBJECT
    for word, value in texts.items():
        text = text.replace(word, value)
    return text


@cache
def manifests() -> tuple[str, ...]:
    """As the base patches them."""
    return tuple(patched(manifest(number), policy(BASE)) for number in range(40))


def planned(after: Data, before: Data = BASE, *, repatched: bool = True) -> Plan:
    """With the manifests patched again, or left as the old policy made them."""
    old, new = policy(before), policy(after)
    then = [patched(text, old, before=policy(BASE)) if before != BASE else text for text in manifests()]
    now = [patched(text, new, before=old) if repatched else text for text in then]
    was, will = (
        [("apps/a.yaml", each) for text in texts for each in api.where(text.encode(), cluster)]
        for texts, cluster in ((then, old), (now, new))
    )
    return make_plan(old, new, was, will)


def _cards(data: Data) -> None:
    data["cards"]["h200"] = {"product": "NVIDIA-H200"}
    data["pools"]["new"] = {"usage": "training", "card": "h200", "nodes": {"names": ["n1", "n2"]}}


def _retire(data: Data) -> None:
    del data["cards"]["l20"], data["pools"]["small"], data["workloads"]["dev"]


def _split(data: Data) -> None:
    data["pools"]["train"]["nodes"] = {"names": ["t[01-10]"]}
    data["pools"]["train-b"] = {**data["pools"]["train"], "nodes": {"names": ["t[11-16]"]}}


def _merge(data: Data) -> None:
    data["pools"]["infer"]["nodes"] = {"names": ["i[01-12]", "h[01-08]"]}
    data["pools"].pop("hybrid")
    data["workloads"]["inference"]["usages"] = ["inference"]


def _move(data: Data) -> None:
    data["pools"]["train"]["nodes"] = {"names": ["t[01-16]", "i[01-04]"]}
    data["pools"]["infer"]["nodes"] = {"names": ["i[05-12]"]}


def _usage(data: Data) -> None:
    data["pools"]["infer"]["usage"] = "serving"
    data["workloads"]["inference"] |= {"usages": ["serving", "hybrid"], "prefer": {"serving": 100}}


def _domain(data: Data) -> None:
    data["domain"] = "b.example.com"


def _queue_renamed(data: Data) -> None:
    data["queues"]["science"] = data["queues"].pop("research")
    data["workloads"]["training"]["queue"] = "science"


def _queue_moved(data: Data) -> None:
    data["queues"]["product"].pop("parent")


def _queues_lowered(data: Data) -> None:
    data["queues"]["research"]["limit"] = {"nvidia.com/gpu": 96}
    data["queues"]["org"]["limit"] = {"nvidia.com/gpu": 160}


def _queue_below(data: Data) -> None:
    """Jobs run in research, which has no children before."""
    data["queues"]["product"]["parent"] = "research"


def _queue_deleted(data: Data) -> None:
    del data["queues"]["product"]


def _scheduler(data: Data) -> None:
    del data["workloads"]["training"]["gang"]
    data["workloads"]["training"] |= {"scheduler": "default-scheduler"}


def _releases(data: Data) -> None:
    data["targets"]["volcano"]["version"] = "1.15.1"
    data["kubernetes"] = "1.36"


def _weights(data: Data) -> None:
    data["queues"]["research"]["weight"] = 5


def _target_off(data: Data) -> None:
    data["targets"] = {}


def _failed_cards(data: Data) -> None:
    data["pools"]["train"]["nodes"] = [
        {"nodes": {"names": ["t[01-15]"]}},
        {"nodes": {"names": ["t16"]}, "allocatable": {**SIZES, "nvidia.com/gpu": 7}},
    ]


def _drained(data: Data) -> None:
    """Four nodes are cordoned until they are repaired."""
    pool = data["pools"]["train"]
    data["pools"]["train"] = {**pool, "nodes": {"names": ["t[01-12]"]}}
    data["pools"]["repair"] = {**pool, "nodes": {"names": ["t[13-16]"]}, "unschedulable": True}


def _team(data: Data) -> None:
    data["tenants"] = {"b": {"namespaces": ["b"], "queue": "product"}}
    data["quotas"]["b"] = {"namespace": "b", "requests": {"nvidia.com/gpu": 8}}


def _driver(data: Data) -> None:
    pool = data["pools"]["train"]
    data["pools"]["train"] = {**pool, "nodes": {"names": ["t[01-08]"]}}
    data["pools"]["train-new"] = {**pool, "nodes": {"names": ["t[09-16]"]}, "labels": {"driver": "580"}}


def _priority(data: Data) -> None:
    data["priorities"]["high"]["value"] = 2000


def _priority_deleted(data: Data) -> None:
    del data["priorities"]["high"], data["workloads"]["training"]["priorityClass"]


class Case(NamedTuple):
    change: Callable[[Data], None]
    changes: list[str]
    """Sign, what and name."""
    effects: dict[str, int]
    """Kind and number."""
    steps: list[str]
    """When."""
    harmless: bool
    safe: bool = True


CASES = {
    "cards": Case(_cards, ["+ card h200", "+ pool new"], {}, ["before the merge", "merge", "on nodes"], True),
    "retire": Case(
        _retire,
        ["- card l20", "- pool small", "- workload kind dev"],
        {"nowhere": 10, "rolled": 10},
        ["merge", "wait until", "on nodes"],
        False,
    ),
    "split": Case(_split, ["~ pool train", "+ pool train-b"], {}, ["merge"], True),
    "merge": Case(
        _merge,
        ["- pool hybrid", "~ pool infer", "~ workload kind inference"],
        {"rolled": 20},
        ["on nodes", "on nodes", "merge"],
        False,
    ),
    "move": Case(
        _move, ["~ pool train", "~ pool infer"], {"fewer nodes": 20}, ["merge", "on nodes", "on nodes"], False
    ),
    "usage": Case(
        _usage,
        ["~ pool infer", "~ workload kind inference"],
        {"rolled": 20},
        ["before the merge", "merge", "wait until", "on nodes", "on nodes", "merge"],
        False,
    ),
    "domain": Case(
        _domain,
        [
            "~ policy usage key",
            "~ policy control plane taint",
            "~ pool train",
            "~ pool hybrid",
            "~ pool infer",
            "~ pool small",
        ],
        {"replaced": 10, "rolled": 30},
        [
            *("before the merge", "before the merge", "delete", "merge", "wait until"),
            *["on nodes"] * 6,
            *("delete", "merge", "on nodes", "clean-up"),
        ],
        False,
    ),
    "queue renamed": Case(
        _queue_renamed,
        ["~ workload kind training", "- queue research", "+ queue science"],
        {"replaced": 10},
        ["delete", "merge", "wait until", "merge"],
        False,
    ),
    "queue moved": Case(_queue_moved, ["~ queue product"], {}, ["merge"], True),
    "queues lowered": Case(
        _queues_lowered, ["~ queue org", "~ queue research"], {"queue": 1}, ["merge", "merge"], False
    ),
    "queue below another": Case(
        _queue_below, ["~ queue product"], {"queue": 1}, ["wait until", "merge"], False
    ),
    "queue deleted": Case(_queue_deleted, ["- queue product"], {}, ["wait until", "merge"], False),
    "scheduler": Case(_scheduler, ["~ workload kind training"], {"replaced": 10}, ["delete", "merge"], False),
    "releases": Case(_releases, ["~ policy Kubernetes", "~ target volcano"], {}, ["merge"], True),
    "weights": Case(_weights, ["~ queue research"], {}, ["merge"], True),
    "target off": Case(_target_off, ["- target volcano"], {"queue": 1}, ["wait until", "merge"], False),
    "failed cards": Case(_failed_cards, ["~ pool train"], {"fewer nodes": 10}, ["merge"], True),
    "drained nodes": Case(
        _drained,
        ["~ pool train", "+ pool repair"],
        {"fewer nodes": 10},
        ["merge", "on nodes", "on nodes"],
        False,
    ),
    "team": Case(_team, ["+ tenant b", "+ quota b/b"], {}, ["merge"], True),
    "driver": Case(
        _driver, ["~ pool train", "+ pool train-new"], {}, ["merge", "on nodes", "on nodes"], False
    ),
    "priority": Case(_priority, ["-/+ priority high"], {}, ["delete", "merge"], False),
    "priority deleted": Case(
        _priority_deleted,
        ["~ workload kind training", "- priority high"],
        {"replaced": 10},
        ["delete", "merge"],
        False,
    ),
}


def after(change: Callable[[Data], None]) -> Data:
    data = copy.deepcopy(BASE)
    change(data)
    return data


def seen(plan: Plan) -> tuple[list[str], dict[str, int], list[str], bool, bool]:
    effects: dict[str, int] = {}
    for each in plan.effects:
        effects[each.kind] = effects.get(each.kind, 0) + 1
    changes = [f"{each.sign} {each.what} {each.name}" for each in plan.changes]
    return changes, effects, [step.when for step in plan.steps], plan.is_harmless, plan.is_safe


@pytest.mark.parametrize("name", CASES)
def test_what_the_plan_of_a_change_says(name: str) -> None:
    case = CASES[name]
    assert seen(planned(after(case.change))) == tuple(case[1:])


def test_a_rollback_is_a_change_like_any_other() -> None:
    there, back = planned(after(_domain)), planned(BASE, after(_domain))
    assert [step.when for step in back.steps] == [step.when for step in there.steps]
    assert "formerly: {domain: {a.example.com: [b.example.com]}}" in back.steps[2].text + back.steps[3].text


def test_a_name_changes_nothing_on_the_cluster_and_no_change_is_none() -> None:
    renamed = planned(after(lambda data: data.update(metadata={"name": "prod"})))
    assert ([each.name for each in renamed.changes], renamed.is_harmless) == (["metadata.name"], True)
    same = planned(BASE)
    assert (same.changes, same.effects, same.steps, same.is_harmless) == ((), (), (), True)


def test_manifests_that_are_not_patched_again_land_nowhere() -> None:
    """The documented gates are green for this change: 10 -> 0 nodes."""
    plan = planned(after(_domain), repatched=False)
    assert not plan.is_harmless
    nowhere = [each for each in plan.effects if each.kind == "nowhere"]
    assert len(nowhere) == 40
    assert nowhere[0].message == "lands nowhere; before on 16 nodes with 128 cards (train)"
    assert nowhere[0].nodes == (16, 0)
    (step,) = plan.steps
    assert step.commands[0] == "policykit patch --from HEAD --in-place ."
    assert plan.stale == 40


def test_manifests_of_a_priority_that_goes_are_refused() -> None:
    plan = planned(after(_priority_deleted), repatched=False)
    (effect,) = plan.effects
    assert (effect.kind, effect.who) == ("priority", "PriorityClass high")
    assert effect.message == "is deleted, but Job ml/w00 and 9 more name it: the API server refuses such pods"
    assert not plan.is_harmless


def test_what_a_merge_keeps_until_the_queue_is_empty() -> None:
    """The queues of a target go with it, and a queue goes beside other changes."""
    texts = [step.text for step in planned(after(_target_off)).steps]
    assert texts[0].startswith("queues research, product, org: empty. Until then they stay in the policy")
    assert texts[1] == "the policy without `targets.volcano`."

    def both(data: Data) -> None:
        _weights(data)
        _queue_deleted(data)

    first = planned(after(both)).steps[0]
    assert first.text == "the new policy, still with queue product, and its manifests."


def test_a_target_that_goes_leaves_its_scheduler_in_pods() -> None:
    (change,) = planned(after(_target_off)).changes
    assert change.note == "schedulerName volcano stays in pods of workload kind training"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_usage, "formerly: {usages: {serving: [inference]}}"),
        (_domain, "formerly: {domain: {b.example.com: [a.example.com]}}"),
        (_queue_renamed, "formerly: {queues: {science: [research]}}"),
    ],
    ids=["usage", "domain", "queue"],
)
def test_a_rename_goes_through_former_names(change: Callable[[Data], None], text: str) -> None:
    assert any(text in step.text for step in planned(after(change)).steps)


def test_one_node_of_each_card_is_changed_first() -> None:
    first, others = (step for step in planned(after(_move)).steps if step.when == "on nodes")
    assert first.text == (
        "1 node moves from pool infer to train, the first with card h20: check it before the others."
    )
    assert first.commands == (
        "kubectl label nodes --overwrite \\\n  i01 \\\n  a.example.com/node.usage=training",
        "kubectl taint nodes --overwrite \\\n  i01 \\\n  a.example.com/node.usage=training:NoSchedule",
    )
    assert others.text == "3 nodes move from pool infer to train."
    assert others.commands[0].split(" \\\n  ")[1] == "i02 i03 i04"


def test_nodes_have_the_labels_of_a_new_domain_before_anything_selects_them() -> None:
    daemons, labels, *rest = planned(after(_domain)).steps
    assert daemons.text.endswith(
        "Their values are in nodes/daemons of `policykit gen` with "
        "`formerly: {domain: {b.example.com: [a.example.com]}}`."
    )
    assert (labels.text, len(labels.commands)) == ("The nodes carry the labels under both keys.", 4)
    nodes = [step for step in rest if step.when == "on nodes"]
    assert all("label nodes" not in command for step in nodes for command in step.commands)
    assert nodes[-1].commands == (
        "kubectl taint nodes --overwrite \\\n  -l node-role.kubernetes.io/control-plane \\\n"
        "  b.example.com/control-plane:NoSchedule a.example.com/control-plane:NoSchedule-",
    )


def test_daemons_keep_what_they_tolerate_until_the_taint_is_gone() -> None:
    """A DaemonSet that is rolled out does not replace its pod on a node that it no longer tolerates."""
    tainted = after(lambda data: data["pools"]["train"].update(taints=["team=a:NoSchedule"]))
    other = after(lambda data: data["pools"]["train"].update(taints=["owner=a:NoSchedule"]))
    (daemons,) = [each for each in planned(other, tainted).steps if "daemons" in each.text]
    assert daemons.text.startswith("The node daemons tolerate owner=a:NoSchedule: device plugin")
    assert "Keep what they have for team:NoSchedule until no node has that taint" in daemons.text


def test_drained_nodes_are_cordoned_and_come_back() -> None:
    drained = after(_drained)
    there, back = planned(drained), planned(BASE, drained)
    for plan, verb in ((there, "cordon"), (back, "uncordon")):
        commands = [command for step in plan.steps for command in step.commands if "cordon" in command]
        assert commands == [f"kubectl {verb} \\\n  t13", f"kubectl {verb} \\\n  t14 t15 t16"]
    assert there.is_safe
    assert back.is_safe


def test_a_release_that_is_no_longer_stated_is_told() -> None:
    """Without its line the target is implied by the scheduler of a kind, and judged as the newest release."""
    plan = planned(after(lambda data: data.pop("targets")))
    (change,) = plan.changes
    assert (change.name, change.details) == (
        "volcano",
        ("release 1.13.0 -> not stated (the newest known)",),
    )
