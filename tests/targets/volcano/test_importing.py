"""Volcano's objects, read back into the policy they were made from, and as people write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.importer.files import objects
from policykit.importer.policy import policy_of
from policykit.manifests import writer
from policykit.model.inventory import Inventory
from policykit.model.queue import PoolAffinity, Queue, Tenant
from policykit.targets.volcano import versions
from policykit.targets.volcano.generate import object_artifacts
from policykit.targets.volcano.importing import VolcanoReader
from policykit.targets.volcano.objects import queue_admission, queues, topology
from policykit.targets.volcano.objects.topology import HyperNode, Member
from tests.importer.cluster_files import generated
from tests.policy.memory import load_body
from tests.targets.volcano import racks
from tests.targets.volcano.clusters import POOLS, cluster

NEWEST = versions.parse("")
QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
TRAIN, INFER, HYBRID = (pool.name for pool in POOLS)


def found_in(*texts: str) -> Inventory:
    reader = VolcanoReader(Inventory())
    for text in texts:
        for manifest in objects(text, "objects.yaml"):
            reader.read_object(manifest, "objects.yaml")
    reader.finish()
    return reader.inventory


def of(*given_queues: Queue) -> Inventory:
    return found_in(writer.dump_all(map(queues.write, given_queues)))


NAMED = st.lists(st.sampled_from([TRAIN, INFER, HYBRID]), max_size=2, unique=True).map(tuple)


@given(st.lists(st.none() | NAMED.map(PoolAffinity), min_size=1, max_size=4))
def test_what_was_written_for_pools_means_the_same_when_read(pools: list[PoolAffinity | None]) -> None:
    tree = tuple(Queue(f"q{n}", f"q{n - 1}" if n else "", pools=each) for n, each in enumerate(pools))
    written, _ = queue_admission.admitted_queues(tree, NEWEST, POOLS)
    again = tuple(of(*written).queues.values())
    assert queue_admission.admitted_queues(again, NEWEST, POOLS)[0] == written


@pytest.mark.parametrize(
    "queue",
    [
        Queue("a", pools=PoolAffinity((TRAIN,))),
        Queue("a", pools=PoolAffinity(preferred=(TRAIN,))),
        Queue("a", pools=PoolAffinity(excluded=(TRAIN,))),
        Queue("a", pools=PoolAffinity(avoided=(HYBRID,))),
        Queue("a", weight=3, limit={"cpu": 4000}),
    ],
    ids=["required", "preferred", "excluded", "avoided", "none"],
)
def test_a_queue_comes_back_as_it_was(queue: Queue) -> None:
    tree = (queue, Queue("b", "a"), Queue("c"))
    written, _ = queue_admission.admitted_queues(tree, NEWEST, POOLS)
    assert of(*written).queues == {each.name: each for each in tree}


def test_tenants_and_levels_come_back() -> None:
    tenants = (Tenant("team-a", ("a", "a-dev"), "team-a"),)
    made = racks.cluster()._replace(tenants=tenants)
    files, _ = object_artifacts(made, NEWEST)
    found = found_in(*(file.text for file in files if not file.path.endswith("kustomization.yaml")))
    assert tuple(found.tenants.values()) == tenants
    assert found.levels == racks.KEYS
    assert found.remarks == []


def hyper_node(tier_name: str, *members: Member) -> str:
    return writer.dump(topology.write(HyperNode("h", 1, members, tier_name)))


@pytest.mark.parametrize(
    ("text", "levels", "remark"),
    [
        (hyper_node("rack", Member("Node", labels={"a/rack": "r1"})), {"rack": "a/rack"}, ""),
        (hyper_node("rack", Member("HyperNode", "x")), {}, ""),
        (
            hyper_node("rack", Member("Node", "n1")),
            {},
            "HyperNode h selects nodes by name, but a policy locates nodes by label: label them "
            "for the level rack",
        ),
        (
            hyper_node("pod", Member("Node", "n1")),
            {},
            "HyperNodes of tier 1 (pod): a policy has levels zone, domain, rack, switch, "
            "nvlink only; left out",
        ),
        (
            hyper_node("", Member("Node", "n1")),
            {},
            "HyperNodes of tier 1: a policy has levels zone, domain, rack, switch, nvlink only; left out",
        ),
    ],
    ids=["by-label", "of-others", "by-name", "other-tier", "no-name"],
)
def test_hyper_nodes(text: str, levels: dict[str, str], remark: str) -> None:
    found = found_in(text)
    assert found.levels == levels
    assert found.remarks == ([remark] if remark else [])
    assert found.targets == {"volcano": {}}


def annotated(hierarchy: str, weights: str) -> dict[str, Any]:
    annotations = {queues.HIERARCHY: hierarchy, queues.HIERARCHY_WEIGHTS: weights}
    return {**QUEUE, "metadata": {"name": "prod", "annotations": annotations}, "spec": {}}


def test_a_tree_of_annotations() -> None:
    found = found_in(writer.dump(annotated("root/eng/prod", "1/2/8")))
    assert found.queues == {"eng": Queue("eng", weight=2), "prod": Queue("prod", "eng", 8)}
    assert found.remarks == [
        "queue prod is annotated with hierarchy eng/prod for plugin drf: imported as nested queues, "
        "which `policykit gen` writes for plugin capacity"
    ]


@pytest.mark.parametrize(
    ("data", "expected", "remark"),
    [
        (
            annotated("root/Eng!/prod", "1/2/8"),
            Queue("prod"),
            "queue prod is annotated with hierarchy Eng!/prod, in which not all names are valid; "
            "hierarchy left out",
        ),
        (annotated("root/prod", "1/1e400"), Queue("prod"), None),
        (annotated("root/prod", "1/nan"), Queue("prod"), None),
        (
            {**QUEUE, "metadata": {"name": "a"}, "spec": {"weight": 0}},
            Queue("a"),
            "queue a has weight 0, outside 1..65535; weight 1 is used",
        ),
        (
            {**QUEUE, "metadata": {"name": "a"}, "spec": {"priority": -1, "parent": "root"}},
            Queue("a"),
            "queue a has negative priority -1; the priority is left out",
        ),
    ],
    ids=["names", "infinite", "no-number", "weight", "priority"],
)
def test_odd_queues(data: dict[str, Any], expected: Queue, remark: str | None) -> None:
    found = found_in(writer.dump(data))
    assert found.queues == {expected.name: expected}
    assert remark is None or found.remarks == [remark]


@pytest.mark.parametrize(
    "queue", [Queue("root", limit={"cpu": 1000}), Queue("default")], ids=["root", "default"]
)
def test_volcanos_own_queues_are_left(queue: Queue) -> None:
    assert of(queue).queues == {}


def test_everything_generated_for_a_cluster_is_read() -> None:
    made = cluster(queues=(Queue("a", pools=PoolAffinity((TRAIN,))),))
    written, _ = queue_admission.admitted_queues(made.queues, NEWEST, made.pools)
    assert tuple(of(*written).queues.values()) == made.queues


POLICY = """\
cards: {h20: {product: NVIDIA-H20}}
pools:
  train:
    usage: training
    card: h20
    nodes: {names: ["gpu-[1-3]"]}
    topology:
      - {nodes: [gpu-1, gpu-2], zone: a, rack: r1, nvlink: c1}
      - {nodes: [gpu-3], zone: a, rack: r2}
  infer: {usage: inference, card: h20, nodes: 3, topology: {zone: b}}
  cpu: {nodes: {min: 1}}
workloads:
  training: {usages: [training, inference], scheduler: volcano, queue: team-a, within: {level: rack}}
queues:
  research: {guarantee: {h20: 8}, deserved: {h20: 8}, limit: {h20: 32}, pools: {excluded: [cpu]}}
  team-a: {parent: research, guarantee: {h20: 8}, deserved: {h20: 8}, limit: {h20: 32}, priority: 5}
  team-b: {parent: research, pools: [train]}
  prod: {pools: {preferred: [infer]}}
tenants: {team-a: {namespaces: [a, a-dev], queue: team-a}}
targets: {volcano: {}}
"""


def test_a_policy_comes_back_from_what_was_generated() -> None:
    meant = load_body(POLICY).cluster
    again = policy_of(generated(meant)).cluster
    assert {queue.name: queue for queue in again.queues} == {queue.name: queue for queue in meant.queues}
    (tenant,) = again.tenants
    assert tenant._replace(namespaces=tuple(sorted(tenant.namespaces))) == meant.tenants[0]
    assert set(again.levels) == set(meant.levels)
    volcano = {path for path in generated(meant) if "/volcano/" in path and not path.endswith(".md")}
    first, second = generated(meant), generated(again)
    for path in sorted(volcano - {"generated/volcano/values.yaml"}):
        assert second[path] == first[path]
