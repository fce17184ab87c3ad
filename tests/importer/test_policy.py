"""Queues, priorities, quotas and scheduler configurations, as clusters and charts have them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.errors import SourceError
from policykit.importer.policy import ImportResult, policy_of
from policykit.manifests.parser import parse
from policykit.policy.load import load_text
from policykit.workspace.files import read
from tests.importer.cluster_files import as_file
from tests.importer.unusual_nodes import gpu, node, with_cards

NODE = as_file([node("n-1", gpu("NVIDIA-H20"), [], with_cards(8))])


def imported(*files: str) -> ImportResult:
    return policy_of({"nodes.json": NODE, **{f"{n}.yaml": text.encode() for n, text in enumerate(files)}})


def section(made: ImportResult, *path: str) -> Any:
    """What stands at a path of the policy made; None: nothing."""
    found: Any = next(iter(parse(made.text))).root
    data = found.data
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


VOLCANO_QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: NAME}
spec: SPEC
"""


@pytest.mark.parametrize(
    ("name", "spec", "said"),
    [
        ("research", "{weight: 3, reclaimable: true}", {"weight": 3}),
        (
            "research",
            "{parent: root, priority: 2, reclaimable: false, capability: {cpu: 10, nvidia.com/gpu: 8},"
            " deserved: {cpu: 4}, guarantee: {resource: {cpu: 2500m, memory: 20Gi}}}",
            {
                "guarantee": {"cpu": "2500m", "memory": "20Gi"},
                "deserved": {"cpu": 4},
                "limit": {"cpu": 10, "nvidia.com/gpu": 8},
                "priority": 2,
                "reclaimable": False,
            },
        ),
        ("default", "{weight: 1, reclaimable: true}", None),
        ("default", "{weight: 1, capability: {cpu: 5}}", {"limit": {"cpu": 5}}),
        ("root", "{weight: 1, capability: {cpu: 5}}", None),
        ("research", "{weight: 0}", {}),
        ("research", "7", {}),
    ],
    ids=["weight", "everything", "default", "default with a limit", "root", "weight 0", "no spec"],
)
def test_volcano_queues(name: str, spec: str, said: dict[str, Any] | None) -> None:
    made = imported(VOLCANO_QUEUE.replace("NAME", name).replace("SPEC", spec))
    assert section(made, "queues", name) == said
    assert section(made, "targets", "volcano") == {}


def test_what_a_queue_may_not_say_is_left_out_and_told() -> None:
    spec = "{capability: {cpu: 4}, guarantee: {resource: {cpu: 8, memory: 1Gi}}}"
    made = imported(VOLCANO_QUEUE.replace("NAME", "a").replace("SPEC", spec))
    assert section(made, "queues", "a") == {"guarantee": {"memory": "1Gi"}, "limit": {"cpu": 4}}
    assert made.remarks == (
        "queues.a.guarantee.cpu is left out: queue a: guarantee of cpu is 8, above its limit 4",
    )


def test_the_same_queue_twice() -> None:
    one, two = (VOLCANO_QUEUE.replace("NAME", "a").replace("SPEC", f"{{weight: {n}}}") for n in (2, 3))
    made = imported(one, two, one)
    assert section(made, "queues", "a") == {"weight": 2}
    assert made.remarks == (
        "queue a is defined more than once with different contents; the first one is used",
    )


ELASTIC = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: team-a
  namespace: a
  labels:
    quota.scheduling.koordinator.sh/parent: PARENT
    quota.scheduling.koordinator.sh/allow-lent-resource: "LENDS"
spec: {min: {cpu: 4}, max: {cpu: 40, nvidia.com/gpu: 8}}
"""


@pytest.mark.parametrize(("lends", "field"), [("true", "deserved"), ("false", "guarantee")])
def test_elastic_quotas(lends: str, field: str) -> None:
    made = imported(ELASTIC.replace("PARENT", "koordinator-root-quota").replace("LENDS", lends))
    assert section(made, "queues", "team-a") == {field: {"cpu": 4}, "limit": {"cpu": 40, "nvidia.com/gpu": 8}}
    assert section(made, "targets", "koordinator") == {}


def test_a_queue_that_says_nothing_but_a_wrong_parent_stays() -> None:
    made = imported(VOLCANO_QUEUE.replace("NAME", "a").replace("SPEC", "{parent: nowhere}"))
    assert section(made, "queues") == {"a": {}}


def test_a_parent_that_was_not_given_is_left_out_and_told() -> None:
    made = imported(ELASTIC.replace("PARENT", "division").replace("LENDS", "true"))
    assert "parent" not in section(made, "queues", "team-a")
    assert made.remarks == ("queues.team-a.parent is left out: unknown queue 'division'",)


YUNIKORN = """\
partitions:
  - name: default
    placementrules: [{name: tag, value: namespace}]
    queues:
      - name: root
        queues:
          - name: research
            submitacl: "*"
            resources: {guaranteed: {vcore: 4, memory: 8Gi}, max: {vcore: 500m, nvidia.com/gpu: 8, cpu: 9}}
            queues: [{name: team}]
"""
IN_CONFIG_MAP = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yunikorn-configs}\ndata:\n  queues.yaml: |\n"
)


@pytest.mark.parametrize(
    "text",
    [YUNIKORN, IN_CONFIG_MAP + "".join(f"    {line}\n" for line in YUNIKORN.splitlines())],
    ids=["queues.yaml", "ConfigMap"],
)
def test_yunikorn_queues(text: str) -> None:
    made = imported(text.replace("max: {vcore: 500m", "max: {vcore: 5"))
    assert section(made, "queues") == {
        "research": {"guarantee": {"cpu": 4, "memory": "8Gi"}, "limit": {"cpu": 5, "nvidia.com/gpu": 8}},
        "team": {"parent": "research"},
    }
    assert "yunikorn" in section(made, "targets")
    assert "queue research: max of cpu has no effect because YuniKorn uses vcore; left out" in made.remarks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metadata: {name: high}\nvalue: 10", {"value": 10}),
        (
            "metadata: {name: high}\nvalue: -5\npreemptionPolicy: Never\nglobalDefault: true\n"
            "description: a b",
            {"value": -5, "preempts": False, "default": True, "description": "a b"},
        ),
        ("metadata: {name: system-node-critical}\nvalue: 2000001000", None),
        ("metadata: {name: koord-prod}\nvalue: 9000", None),
        ("metadata: {name: high}", None),
    ],
    ids=["value", "everything", "Kubernetes' own", "Koordinator's own", "no value"],
)
def test_priority_classes(text: str, said: dict[str, Any] | None) -> None:
    made = imported(f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n{text}\n")
    assert (section(made, "priorities") or {}).get("high") == said


def test_resource_quotas() -> None:
    made = imported(
        "kind: ResourceQuota\napiVersion: v1\nmetadata: {name: team, namespace: team}\n"
        "spec: {hard: {cpu: 4, requests.nvidia.com/gpu: 8, limits.memory: 1Gi, pods: 10,"
        " limits.nvidia.com/gpu: 8, count/jobs.batch: 5}}\n",
        "kind: ResourceQuota\nmetadata: {name: team, namespace: other}\nspec: {hard: {cpu: 1}}\n",
        "kind: ResourceQuota\nmetadata: {name: b}\nspec: {hard: {cpu: 1}, scopes: [BestEffort]}\n",
    )
    assert section(made, "quotas") == {
        "team": {"requests": {"cpu": 4, "nvidia.com/gpu": 8}, "limits": {"memory": "1Gi"}, "pods": 10}
    }
    assert made.remarks == (
        "ResourceQuota team/team: a policy has no field for count/jobs.batch, limits.nvidia.com/gpu; "
        "left out",
        "ResourceQuota other/team: quota names in a policy are unique, and team/team has the same name; "
        "left out",
        "ResourceQuota default/b has scopes other than PriorityClass, which a policy cannot express; "
        "left out",
    )


VOLCANO_CONF = """\
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins:
  - name: predicates
  - name: nodeorder
  - name: tdm
  - name: binpack
    arguments:
      {binpack.weight: 17, binpack.cpu: 2, binpack.resources: a/b, binpack.resources.a/b: 9}
"""


def embedded(lead: str, text: str, indent: int) -> str:
    return lead + "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (VOLCANO_CONF, {}),
        (
            embedded(
                "kind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, namespace: batch}\n"
                "data:\n  volcano-scheduler.conf: |\n",
                VOLCANO_CONF,
                4,
            ),
            {"delivery": "manifest", "namespace": "batch"},
        ),
        (
            embedded(
                "basic: {image_tag_version: v1.14.2}\ncustom:\n  scheduler_config_override: |\n",
                VOLCANO_CONF,
                4,
            ),
            {"version": "1.14.2", "delivery": "helm-values"},
        ),
    ],
    ids=["bare", "ConfigMap", "Helm values"],
)
def test_volcanos_configuration(text: str, target: dict[str, Any]) -> None:
    queue = VOLCANO_QUEUE.replace("NAME", "a").replace("SPEC", "{}")
    made = imported(queue, text)
    weights = {"weight": 17, "resources": {"cpu": 2, "memory": 1, "a/b": 9}}
    plugins = {
        "gang": {"flags": {"enablePreemptable": True, "enableJobStarving": True}},
        "conformance": {"enabled": False},
        "drf": {"enabled": False},
        "proportion": {"enabled": False},
        "tdm": {},
    }
    assert section(made, "targets", "volcano") == {**target, "binpack": weights, "plugins": plugins}
    assert section(made, "preemption") == {"withinQueue": True}
    assert made.remarks == (
        "volcano: actions[0] is left out: action enqueue admits only jobs that fit, so preempt never makes "
        "any room",
        "volcano: actions are enqueue, allocate, preempt, backfill; `policykit gen` writes allocate, "
        "backfill, preempt, shuffle",
    )


KOORDINATOR = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  pluginConfig:
  - name: NodeResourcesFitPlus
    args: {resources: {nvidia.com/gpu: {type: MostAllocated, weight: 3}, cpu: {type: Fastest, weight: 1}}}
"""


@pytest.mark.parametrize("wrapped", [False, True], ids=["bare", "ConfigMap"])
def test_koordinators_configuration(wrapped: bool) -> None:
    lead = "kind: ConfigMap\nmetadata: {name: koord-scheduler-config, namespace: koordinator-system}\n"
    text = embedded(f"{lead}data:\n  koord-scheduler-config: |\n", KOORDINATOR, 4) if wrapped else KOORDINATOR
    made = imported(text)
    fit = {"nvidia.com/gpu": {"type": "MostAllocated", "weight": 3}}
    assert section(made, "targets") == {"koordinator": {"fit": fit}}
    assert "koord-scheduler" in made.cluster.schedulers
    fast, apart = made.remarks
    assert fast == "NodeResourcesFitPlus: cpu with type Fastest and weight 1 has no effect; left out"
    assert apart.startswith("0.yaml differs from what this policy generates: args of Coscheduling, ")
    assert apart.endswith("To keep the rest, name the file in targets.koordinator.config")


def test_kube_schedulers_profiles() -> None:
    made = imported(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- {schedulerName: default-scheduler}\n- schedulerName: packing\n  pluginConfig:\n"
        "  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}\n"
    )
    resources = {"cpu": 1, "memory": 1}
    placement = {"strategy": "binpack", "resources": resources, "scheduler": "packing"}
    assert section(made, "placements") == {"packing": placement}
    assert section(made, "schedulers") is None


def test_the_release_of_a_scheduler_is_that_of_its_image() -> None:
    made = imported(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        "      containers: [{name: a, image: 'registry.example:5000/volcanosh/vc-scheduler:v1.12.1'}]\n"
    )
    assert section(made, "targets") == {"volcano": {"version": "1.12.1"}}


def test_what_a_policy_does_not_hold_is_counted() -> None:
    made = imported("kind: Service\napiVersion: v1\n---\nkind: Service\napiVersion: v1\n", "a: 1\n")
    assert made.remarks == (
        "1.yaml: not an object or configuration that import can read; left out",
        "2 Service: not part of a policy; ignored",
    )


def test_a_template_is_left_out() -> None:
    made = imported("kind: Queue\nmetadata: {name: {{ .Values.name }}}\n")
    assert made.remarks == ("0.yaml: a template, not YAML until it is rendered; left out",)


@pytest.mark.parametrize(
    ("content", "place"), [(b"a: [", "0.yaml:2:1"), (b"\xff\xfe", "0.yaml")], ids=["broken YAML", "not UTF-8"]
)
def test_files_that_cannot_be_read(content: bytes, place: str) -> None:
    with pytest.raises(SourceError) as caught:
        policy_of({"nodes.json": NODE, "0.yaml": content})
    assert caught.value.place == place


NAMES = st.sampled_from(["a", "b", "Bad_Name", "root", "default", "x" * 70, ""])
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "gpu", "bad key/x"]),
    st.sampled_from(["1", "2500m", "8Gi", "many", -1, 1.5]),
    max_size=3,
)
QUEUES = st.fixed_dictionaries(
    {
        "apiVersion": st.just("scheduling.volcano.sh/v1beta1"),
        "kind": st.just("Queue"),
        "metadata": st.fixed_dictionaries({"name": NAMES}),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "weight": st.sampled_from([0, 1, 7, 70000, "3"]),
                "priority": st.sampled_from([-1, 0, 9]),
                "parent": NAMES,
                "capability": AMOUNTS,
                "deserved": AMOUNTS,
                "guarantee": st.fixed_dictionaries({"resource": AMOUNTS}),
            },
        ),
    }
)
OTHERS = st.sampled_from(
    [
        {"kind": "PriorityClass", "metadata": {"name": "Bad_Name"}, "value": 1},
        {"kind": "PriorityClass", "metadata": {"name": "one"}, "value": 2 * 10**9, "globalDefault": True},
        {"kind": "PriorityClass", "metadata": {"name": "two"}, "value": 5, "globalDefault": True},
        {"kind": "PriorityClass", "metadata": {"name": "three"}, "value": 5, "globalDefault": True},
        {
            "kind": "ResourceQuota",
            "metadata": {"name": "q", "namespace": "Bad_Name"},
            "spec": {"hard": {"cpu": 1}},
        },
        {
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"requests.a/b": "1.5", "pods": "1"}},
        },
        {"kind": "ElasticQuota", "metadata": {"name": "a"}, "spec": {"min": {"cpu": 9}, "max": {"cpu": 1}}},
        {"basic": {"image_tag_version": "latest"}},
        {"basic": {"image_tag_version": "v1.9.0"}, "custom": {"scheduler_config_override": "tiers: []\n"}},
        {"profiles": [{"schedulerName": "Bad_Name"}, {"schedulerName": 3}, 7]},
        {"partitions": [{"queues": [{"name": "root", "queues": [{"name": "Bad_Name"}, {"name": 3}]}]}]},
        {
            "tiers": [
                {
                    "plugins": [
                        {"name": "binpack", "arguments": {"binpack.weight": "x", "binpack.resources": 3}}
                    ]
                }
            ]
        },
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(QUEUES, OTHERS), min_size=1, max_size=5))
def test_whatever_objects_say_the_policy_loads(objects: list[dict[str, Any]]) -> None:
    made = imported(*map(json.dumps, objects))
    assert load_text(made.text.encode(), "policykit.yaml", read).cluster == made.cluster
    assert [pool.name for pool in made.cluster.pools] == ["h20"]
