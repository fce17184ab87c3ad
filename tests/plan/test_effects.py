"""Who feels a change, one case for each kind of effect."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from policykit import api
from policykit.linter.scope import LocatedFact
from policykit.model.gang import PodGroup
from policykit.plan.effects import Effect
from policykit.plan.plan import make_plan
from tests.clusters import policy
from tests.plan.pairs import patched

BASE: dict[str, Any] = {
    "domain": "a.example.com",
    "coverage": "complete",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 4}},
    "workloads": {"training": {"usages": ["training"], "gang": "all", "scheduler": "volcano", "queue": "a"}},
    "queues": {"a": {"limit": {"nvidia.com/gpu": 32}}},
    "quotas": {"ml": {"namespace": "ml", "requests": {"nvidia.com/gpu": 32}}},
    "targets": {"volcano": {"version": "1.15.1"}},
}
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: big, namespace: ml}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {labels: {policykit.io/workload: training}}
    spec:
      restartPolicy: Never
      containers:
        - name: a
          image: registry.example/a:1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 8}}
"""


def effects(change: dict[str, Any], text: str) -> list[Effect]:
    data = copy.deepcopy(BASE)
    for path, value in change.items():
        *above, last = path.split(".")
        place = data
        for step in above:
            place = place[step]
        place[last] = value
    old, new = policy(BASE), policy(data)
    reviews = [[("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new)]
    return list(make_plan(old, new, reviews[0], reviews[1]).effects)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"pools.train.nodes": 2}, "gang", "the gang of 4 pods no longer fits: its nodes hold 2, before 4"),
        (
            {"pools.train.nodes": 3},
            "fewer nodes",
            "lands on 3 nodes with 24 cards (train); before on 4 nodes with 32 cards (train)",
        ),
        (
            {"queues.a.limit": {"nvidia.com/gpu": 16}},
            "queue",
            "limit of nvidia.com/gpu falls to 16, but the manifests request 32",
        ),
        (
            {"quotas.ml.requests": {"nvidia.com/gpu": 8}},
            "quota",
            "requests of nvidia.com/gpu falls to 8, but the manifests request 32",
        ),
        (
            {"queues.a.limit": {"nvidia.com/gpu": 4}},
            "nowhere",
            "one pod requests 8 nvidia.com/gpu, but the limit of queue a falls to 4",
        ),
        (
            {"quotas.ml.requests": {"nvidia.com/gpu": 7}},
            "nowhere",
            "one pod requests 8 nvidia.com/gpu, but quota ml/ml falls to 7",
        ),
    ],
    ids=["gang", "fewer nodes", "queue", "quota", "queue below a pod", "quota below a pod"],
)
def test_effects_on_a_patched_workload(change: dict[str, Any], kind: str, message: str) -> None:
    found = effects(change, patched(JOB, policy(BASE)))
    assert message in [each.message for each in found if each.kind == kind]


def test_a_second_card_is_told_for_manifests_that_name_none() -> None:
    more = {"usage": "training", "card": "l20", "nodes": 2}
    (found,) = [each for each in effects({"pools.more": more}, JOB) if each.kind == "unpatched"]
    assert found.who == "Job ml/big"
    assert found.message.startswith("`policykit patch` will refuse it: h20, l20 offer what it requests.")


def test_what_only_gets_more_is_not_told() -> None:
    text = patched(JOB, policy(BASE))
    assert effects({"pools.train.nodes": 8}, text) == []
    assert effects({"queues.a.limit": {"nvidia.com/gpu": 64}}, text) == []


TWO_TASKS = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: big, namespace: ml}
spec:
  minAvailable: 4
  schedulerName: volcano
  tasks:
    - name: master
      replicas: 1
      template:
        metadata: {labels: {policykit.io/workload: training}}
        spec:
          restartPolicy: Never
          containers:
            - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 4}}}
    - name: worker
      replicas: 3
      template:
        metadata: {labels: {policykit.io/workload: training}}
        spec:
          restartPolicy: Never
          containers:
            - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.mark.parametrize(
    ("nodes", "lack"),
    [
        (3, "it needs 28 nvidia.com/gpu, and its nodes have 24, before 32"),
        (2, "the nodes of task[1] hold 2 of 3, before 4"),
    ],
    ids=["cards of both tasks", "pods of one task"],
)
def test_a_gang_of_several_tasks_is_told_once(nodes: int, lack: str) -> None:
    found = effects({"pools.train.nodes": nodes}, patched(TWO_TASKS, policy(BASE)))
    told = [each.message for each in found if each.kind == "gang"]
    assert told == [f"the gang of 4 pods no longer fits: {lack}"]


def racks(first: list[str], second: list[str]) -> list[dict[str, Any]]:
    return [{"nodes": first, "rack": "r1"}, {"nodes": second, "rack": "r2"}]


@pytest.mark.parametrize(
    ("mode", "left", "told"),
    [
        (
            "hard",
            (3, 3),
            [
                "the gang of 4 pods no longer fits: it must stay within one rack, and none has room "
                "for it, as one had before"
            ],
        ),
        ("hard", (4, 2), []),
        ("soft", (3, 3), []),
        ("hard", (2, 1), ["the gang of 4 pods no longer fits: its nodes hold 3, before 8"]),
    ],
    ids=["none is large enough", "one is", "a preference", "all are too small"],
)
def test_a_gang_that_stays_within_a_rack(mode: str, left: tuple[int, int], told: list[str]) -> None:
    def data(first: int, second: int) -> dict[str, Any]:
        names = [
            [f"{rack}{number}" for number in range(size)] for rack, size in (("a", first), ("b", second))
        ]
        pool = {
            **BASE["pools"]["train"],
            "nodes": {"names": [*names[0], *names[1]]},
            "topology": racks(*names),
        }
        kind = {**BASE["workloads"]["training"], "within": {"level": "rack", "mode": mode}}
        return {**BASE, "pools": {"train": pool}, "workloads": {"training": kind}}

    old, new = policy(data(4, 4)), policy(data(*left))
    text = patched(JOB, old)
    reviews = [[("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new)]
    found = make_plan(old, new, reviews[0], reviews[1]).effects
    assert [each.message for each in found if each.kind == "gang"] == told


def test_the_priority_of_a_gang_that_goes() -> None:
    """Volcano copies it from the Job to its PodGroup; its pods may have another or none."""
    base = {**copy.deepcopy(BASE), "priorities": {"high": {"value": 10}}}
    old, new = policy(base), policy(BASE)
    text = TWO_TASKS.replace("spec:\n  minAvailable", "spec:\n  priorityClassName: high\n  minAvailable")
    reviews = [[("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new)]
    plan = make_plan(old, new, reviews[0], reviews[1])
    told = [(each.who, each.message) for each in plan.effects if each.kind == "priority"]
    message = "is deleted, but Job ml/big names it: the gang then has no priority"
    assert told == [("PriorityClass high", message)]
    assert not plan.is_harmless


def test_a_job_that_is_replaced_is_told_once() -> None:
    """Two of its templates change."""
    text = patched(TWO_TASKS, policy(BASE))
    data = copy.deepcopy(BASE)
    data["domain"] = "b.example.com"
    old, new = policy(BASE), policy(data)
    then = [("a.yaml", each) for each in api.where(text.encode(), old)]
    now = [("a.yaml", each) for each in api.where(patched(text, old, new).encode(), new)]
    plan = make_plan(old, new, then, now)
    assert [each.who for each in plan.effects if each.kind == "replaced"] == ["Job ml/big"]
    assert any(step.text.startswith("1 object whose template is immutable") for step in plan.steps)


def test_patching_is_not_asked_for_where_one_template_has_no_room() -> None:
    """The master would fit on nodes of 4 cards, the workers would not: `patch` refuses the whole Job."""
    data = copy.deepcopy(BASE)
    data["pools"]["train"] = {
        "usage": "other",
        "card": "h20",
        "nodes": 4,
        "allocatable": {"nvidia.com/gpu": 4},
    }
    data["workloads"]["training"]["usages"] = ["other"]
    old, new = policy(BASE), policy(data)
    text = patched(TWO_TASKS, old)
    reviews = [[("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new)]
    plan = make_plan(old, new, reviews[0], reviews[1])
    assert [each.kind for each in plan.effects if each.kind == "nowhere"] == ["nowhere"] * 2
    assert (plan.stale, "merge" in [step.when for step in plan.steps]) == (0, True)


GROUP = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: both, namespace: ml}
spec: {minMember: 4}
"""
HALF = """\
---
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: ml}
spec:
  parallelism: PODS
  completions: PODS
  template:
    metadata: {annotations: {scheduling.k8s.io/group-name: both}}
    spec:
      schedulerName: volcano
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers:
        - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 8}}}
"""


def half(name: str, pods: int) -> str:
    return HALF.replace("NAME", name).replace("PODS", str(pods))


@pytest.mark.parametrize(
    ("text", "gangs", "told"),
    [
        (
            half("a", 4) + GROUP,
            1,
            ["Job ml/a: the gang of 4 pods no longer fits: its nodes hold 3, before 4"],
        ),
        (
            half("a", 2) + half("b", 2) + GROUP,
            1,
            ["Job ml/a: the gang of 4 pods no longer fits: its nodes hold 3, before 4"],
        ),
        (half("a", 4) + GROUP.replace("minMember: 4", "minMember: 3"), 1, []),
        (half("a", 4) + GROUP.replace("namespace: ml", "namespace: other"), 0, []),
        (half("a", 4) + GROUP + GROUP, 0, []),
        (half("a", 4), 0, []),
    ],
    ids=["one Job", "two Jobs", "fewer at once", "another namespace", "stated twice", "no PodGroup"],
)
def test_gangs_that_pods_join_by_name(text: str, gangs: int, told: list[str]) -> None:
    data = copy.deepcopy(BASE)
    data["pools"]["train"]["nodes"] = 3
    old, new = policy(BASE), policy(data)
    then, now = ([("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new))
    facts = api.facts("a.yaml", text.encode(), new)
    groups = [
        each.value for each in facts if isinstance(each, LocatedFact) and isinstance(each.value, PodGroup)
    ]
    plan = make_plan(old, new, then, now, pod_groups=(groups, groups))
    assert plan.gangs == gangs
    assert [f"{each.who}: {each.message}" for each in plan.effects if each.kind == "gang"] == told
