"""What YuniKorn's files carry of a policy comes back."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from policykit.generator.bundle import bundle
from policykit.importer.policy import ImportResult, policy_of
from policykit.manifests.parser import parse
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.targets.yunikorn.configuration import access_lists
from policykit.targets.yunikorn.configuration.queues_yaml import Queue as Written
from policykit.targets.yunikorn.generate import generate
from policykit.targets.yunikorn.policy_configuration import policy_configuration
from tests.clusters import policy
from tests.importer.cluster_files import as_file, generated
from tests.importer.unusual_nodes import gpu, node, with_cards
from tests.targets.yunikorn.clusters import cluster, target, trees

NODE = as_file([node("n-1", gpu("NVIDIA-H20"), [], with_cards(8))])
POOLS: dict[str, Any] = {
    "domain": "a.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"card": "h20", "nodes": {"names": ["n-1"]}}},
}


def imported(files: dict[str, str]) -> ImportResult:
    return policy_of({"nodes.json": NODE, **{path: text.encode() for path, text in files.items()}})


def section(made: ImportResult, *path: str) -> Any:
    """What stands at a path of the policy made; None: nothing."""
    root = next(iter(parse(made.text))).root
    found: Any = root.data if root else None
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def files(made: Cluster) -> dict[str, str]:
    return bundle(made, generate(made))


WHOLE: dict[str, Any] = {
    "queues": {
        "research": {"limit": {"cpu": 100, "h20": 64}},
        "team-a": {
            "parent": "research",
            "guarantee": {"h20": 8},
            "limit": {"h20": 32, "memory": "100Gi"},
            "priority": 5,
            "reclaimable": False,
            "submit": {"users": ["ann"], "groups": ["dev"]},
        },
        "team-b": {"parent": "research", "submit": {"users": ["bob"]}},
        "batch": {"limit": {"h20": 0}},
        "spare": {"submit": {}},
    },
    "tenants": {
        "a": {"namespaces": ["team-a", "team-a2"], "queue": "team-a"},
        "r": {"namespaces": ["res"], "queue": "batch"},
    },
    "preemption": {"reclaim": True},
    "targets": {
        "yunikorn": {
            "version": "1.9.0",
            "delivery": "manifest",
            "namespace": "batch",
            "policyGroup": "mine",
            "fallback": "batch",
            "namespaceQueues": "root",
            "nodeSort": {"type": "fair", "weights": {"cpu": 1.5}},
            "quotaPreemption": True,
            "settings": {"log.level": "debug"},
            "queues": {
                "root": {"properties": {"priority.offset": "3"}},
                "research": {
                    "maxApplications": 4,
                    "admins": {"users": ["root"]},
                    "childTemplate": {"limit": {"cpu": 2}, "properties": {"preemption.policy": "disabled"}},
                },
                "team-a": {
                    "maxApplications": 3,
                    "properties": {"quota.preemption.delay": "5m"},
                    "limits": [
                        {"description": "of ann", "users": ["ann"], "max": {"h20": 2}},
                        {"users": ["*"], "max": {"h20": 4}, "maxApplications": 2},
                    ],
                },
            },
        }
    },
}
RULES = {
    "queues": {"a": {}, "b": {}},
    "targets": {
        "yunikorn": {
            "version": "1.8.0",
            "placementRules": [
                {"name": "user", "create": True, "filter": {"type": "deny", "groups": ["ops"]}},
                {"name": "fixed", "value": "root.a"},
            ],
            "queues": {"b": {"properties": {"quota.preemption.delay": "5m"}}},
        }
    },
}
CASES = {
    "whole": WHOLE,
    "rules": RULES,
    "plain": {"queues": {"a": {}, "b": {"parent": "a"}}, "targets": {"yunikorn": {"version": "1.6.0"}}},
    "dots": {
        "queues": {"x": {}, "y": {}, "x.a": {"parent": "x"}, "y.a": {"parent": "y"}},
        "targets": {"yunikorn": {"version": "1.6.0"}},
    },
}


@pytest.mark.parametrize("case", CASES)
def test_the_policy_comes_back(case: str) -> None:
    stated = policy({**POOLS, **CASES[case]})
    made = imported(files(stated))
    assert sorted(made.cluster.queues) == sorted(stated.queues)
    assert sorted(made.cluster.tenants) == sorted(stated.tenants)
    assert made.cluster.preemption == stated.preemption
    assert made.cluster.targets["yunikorn"] == stated.targets["yunikorn"]
    assert not [remark for remark in made.remarks if "left out" in remark]


def test_the_queues_of_workload_kinds_come_back() -> None:
    stated = policy(
        {
            **POOLS,
            "pools": {"train": {**POOLS["pools"]["train"], "usage": "training"}},
            "queues": {"research": {}, "team-a": {"parent": "research"}, "x" * 60: {"parent": "team-a"}},
            "workloads": {
                "training": {"usages": ["training"], "scheduler": "yunikorn", "queue": "team-a"},
                "long": {"usages": ["training"], "scheduler": "yunikorn", "queue": "x" * 60},
            },
        }
    )
    made = policy_of(generated(stated)).cluster
    assert {name: kind.queue for name, kind in made.workloads.items()} == {
        "training": "team-a",
        "long": "x" * 60,
    }


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30, deadline=None)
@given(trees())
def test_what_comes_back_generates_the_same_queues(queues: tuple[Queue, ...]) -> None:
    made = cluster(*queues)
    again = imported(files(made)).cluster
    there = cluster(*again.queues, pools=made.pools)
    one, other = (policy_configuration(each, target(each)).root for each in (made, there))
    assert without_lists(one) == without_lists(other)
    assert leaves(one) == leaves(other)


def without_lists(queue: Written) -> Written:
    return queue._replace(submit="", queues=tuple(map(without_lists, queue.queues)))


def leaves(queue: Written, path: str = "", above: frozenset[str] = frozenset()) -> dict[str, frozenset[str]]:
    """Leaf to everyone who may submit to it: on which queue above the list stands makes no difference."""
    people = access_lists.read(queue.submit)
    assert people is not None
    let_in = above | {*people.users, *(f"group {group}" for group in people.groups)}
    if queue.leaf:
        return {path: frozenset({"*"}) if "*" in let_in else let_in}
    found: dict[str, frozenset[str]] = {}
    for child in queue.queues:
        found |= leaves(child, f"{path}.{child.name}", let_in)
    return found


QUEUES = "partitions:\n- name: default\n  queues:\n  - name: root\n"


def below(*queues: str, more: str = "") -> str:
    lines = "".join(f"    - {queue}\n" for queue in queues)
    return f"{QUEUES}    queues:\n{lines}{more}"


@pytest.mark.parametrize(
    ("text", "queues"),
    [
        (below("{name: A, submitacl: '*'}"), {"a": {}}),
        (below("{name: default, submitacl: '*'}"), {"default": {}}),
        (
            below("{name: a, submitacl: '*', queues: [{name: x}]}", "{name: b, queues: [{name: x}]}"),
            {
                "a": {},
                "a.x": {"parent": "a"},
                "b": {},
                "b.x": {"parent": "b", "submit": {}},
            },
        ),
        (
            below("{name: a, submitacl: ann, queues: [{name: b, submitacl: ' dev'}]}"),
            {
                "a": {"submit": {"users": ["ann"]}},
                "b": {"parent": "a", "submit": {"users": ["ann"], "groups": ["dev"]}},
            },
        ),
        (
            "partitions: [{queues: [{name: a, submitacl: '*'}, {name: b, submitacl: '*'}]}]",
            {"a": {}, "b": {}},
        ),
        (below("{name: a}"), {"a": {}}),
    ],
    ids=["small-letters", "own-default", "same-name-twice", "lists-add-up", "inserted-root", "no-lists"],
)
def test_queues_of_others(text: str, queues: dict[str, Any]) -> None:
    assert section(imported({"queues.yaml": text}), "queues") == queues


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (
            below("{name: a}"),
            "no queue of YuniKorn has a submitacl, so nobody may submit; the policy allows everybody",
        ),
        (
            below("{name: a, submitacl: a b c}"),
            "queue a: submitacl 'a b c' is invalid in YuniKorn; left out",
        ),
        (
            below("{name: a, resources: {max: {cpu: 4}}}"),
            "queue a: max of cpu has no effect because YuniKorn uses vcore; left out",
        ),
        (
            below("{name: a, resources: {guaranteed: {vcore: 1.5}}}"),
            "queue a: guaranteed of vcore is '1.5', not a valid amount; left out",
        ),
        (
            below("{name: a, properties: {moon: '1'}}"),
            "queue a: property moon is not a property that YuniKorn reads; left out",
        ),
        (
            QUEUES + "  placementrules: [{name: moon}]\n",
            "placement rule 'moon' does not exist in YuniKorn; left out",
        ),
        (
            QUEUES + "  nodesortpolicy: {type: Fair}\n",
            "nodesortpolicy Fair of YuniKorn is neither fair nor binpacking; left out",
        ),
        (
            QUEUES + "- name: gpu\n  queues: []\n",
            "partition gpu of YuniKorn: Kubernetes uses only `default`; left out",
        ),
        (
            QUEUES + "  usergroupresolver: {type: os}\n",
            "usergroupresolver os of YuniKorn: a policy has no field for it; left out",
        ),
    ],
    ids=["lists", "list", "cpu", "amount", "property", "rule", "node-sort", "partition", "resolver"],
)
def test_what_a_policy_cannot_say_is_told(text: str, remark: str) -> None:
    assert remark in imported({"queues.yaml": text}).remarks


def test_the_default_order_of_nodes_is_kept_where_gen_would_pack() -> None:
    made = imported({"queues.yaml": QUEUES})
    assert section(made, "targets", "yunikorn", "nodeSort") == {
        "type": "fair",
        "weights": {"cpu": 1, "memory": 1},
    }


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yunikorn-configs, namespace: batch}\n"


def test_settings_and_compressed_queues() -> None:
    text = f"{CONFIG_MAP}data: {{service.clusterId: x, moon: '1'}}\nbinaryData: {{queues.yaml.gz: aaaa}}\n"
    made = imported({"a.yaml": text})
    assert section(made, "targets", "yunikorn") == {
        "delivery": "manifest",
        "namespace": "batch",
        "settings": {"service.clusterId": "x"},
    }
    assert "setting moon of YuniKorn is not a setting that YuniKorn reads; left out" in made.remarks
    assert any(
        remark.startswith("ConfigMap yunikorn-configs: binaryData is compressed") for remark in made.remarks
    )


def test_namespaces_of_a_cluster() -> None:
    annotated = (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {}\n  annotations:\n"
        "    yunikorn.apache.org/parentqueue: {}\n"
    )
    made = imported(
        {
            "queues.yaml": below("{name: team, submitacl: '*'}"),
            "a.yaml": annotated.format("one", "root.team"),
            "b.yaml": annotated.format("two", "team"),
            "c.yaml": annotated.format("three", "root.gone"),
        }
    )
    assert section(made, "tenants") == {"team": {"namespaces": ["one", "two"], "queue": "team"}}
    assert "namespace three has queue root.gone, which no file defines; left out" in made.remarks


VOLCANO = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: {weight: 3, %s}\n"
)


@pytest.mark.parametrize(
    ("capability", "told"), [("capability: {cpu: 4}", False), ("capability: {cpu: 8}", True)]
)
def test_another_system_may_say_more_of_a_queue(capability: str, told: bool) -> None:
    text = below("{name: a, submitacl: '*', resources: {max: {vcore: 4}}}")
    made = imported({"a.yaml": VOLCANO % capability, "b.yaml": text})
    assert section(made, "queues", "a", "weight") == 3
    remark = "queue a: max of YuniKorn differs from another file; that file is used"
    assert (remark in made.remarks) is told
    assert not any("given more than once" in remark for remark in made.remarks)


@pytest.mark.parametrize(
    ("delay", "version"), [("preemption.quota.delay", "1.8.0"), ("quota.preemption.delay", None)]
)
def test_the_release_that_reads_a_name(delay: str, version: str | None) -> None:
    """1.8 calls the delay of quota preemption otherwise: under 1.9's name it would be off there."""
    queues = (
        "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n"
        f"    - name: a\n      properties: {{{delay}: 30s}}\n"
    )
    assert section(imported({"queues.yaml": queues}), "targets", "yunikorn", "version") == version


@pytest.mark.parametrize(
    ("image", "labels", "version", "said"),
    [
        ("apache/yunikorn:scheduler-1.7.0", "{}", "1.7.0", False),
        ("reg.example:5000/apache/yunikorn:scheduler-1.7.0-acme@sha256:12", "{}", "1.7.0-acme", False),
        ("apache/yunikorn:scheduler-latest", "{app.kubernetes.io/version: 1.6.3}", "1.6.3", False),
        ("apache/yunikorn:scheduler-latest", "{helm.sh/chart: yunikorn-1.8.0}", "1.8.0", False),
        ("apache/yunikorn:scheduler-latest", "{}", None, True),
        ("apache/yunikorn:web-1.7.0", "{}", None, False),
    ],
)
def test_the_release_of_the_image_or_the_chart(
    image: str, labels: str, version: str | None, said: bool
) -> None:
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\n"
        f"metadata: {{name: scheduler, namespace: yunikorn, labels: {labels}}}\n"
        f"spec: {{template: {{spec: {{containers: [{{name: s, image: '{image}'}}]}}}}}}\n"
    )
    made = imported({"deployment.yaml": deployment})
    assert section(made, "targets", "yunikorn", "version") == version
    remark = "no release in the tag of image yunikorn or in the labels; set targets.yunikorn.version"
    assert any(remark in each for each in made.remarks) is said
