"""HyperNodes and network topology: round trips, and what a policy's levels become."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import writer
from policykit.model.pool import Pool
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import topology
from policykit.targets.volcano.objects.topology import HyperNode, Member, NetworkTopology, Requirement
from tests.loaded import loaded, loaded_all
from tests.shared import SHARED
from tests.targets.volcano import racks
from tests.targets.volcano.racks import KEYS, RACKS, cluster, pool, shape
from tests.targets.volcano.webhook import refused_hyper_nodes

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,10}[a-z0-9])?", fullmatch=True)
REQUIREMENTS = st.builds(
    Requirement, NAMES, st.sampled_from(["In", "Exists"]), st.lists(NAMES, max_size=2).map(tuple)
)
LABELS = st.dictionaries(NAMES, NAMES, max_size=2)
MEMBERS = (
    st.tuples(st.sampled_from(["Node", "HyperNode"]), NAMES).map(lambda each: Member(*each))
    | NAMES.map(lambda pattern: Member("Node", pattern=pattern))
    | st.tuples(LABELS, st.lists(REQUIREMENTS, max_size=2)).map(
        lambda each: Member("Node", labels=each[0], requirements=tuple(each[1]))
    )
)
HYPER_NODES = st.builds(
    HyperNode, NAMES, st.integers(0, 9), st.lists(MEMBERS, max_size=3).map(tuple), st.just("") | NAMES
)


@given(HYPER_NODES)
def test_what_is_written_reads_back(hyper_node: HyperNode) -> None:
    assert topology.read(topology.write(hyper_node)) == hyper_node
    assert topology.read(loaded(writer.dump(topology.write(hyper_node)))) == hyper_node


def test_written_in_full() -> None:
    members = (
        Member("HyperNode", "rack-1"),
        Member("Node", pattern="^gpu-"),
        Member("Node", labels={"rack": "r1"}, requirements=(Requirement("zone", "DoesNotExist"),)),
    )
    written = topology.write(HyperNode("zone-a", 2, members, "zone"))
    assert written == {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": "zone-a"},
        "spec": {
            "tier": 2,
            "tierName": "zone",
            "members": [
                {"type": "HyperNode", "selector": {"exactMatch": {"name": "rack-1"}}},
                {"type": "Node", "selector": {"regexMatch": {"pattern": "^gpu-"}}},
                {
                    "type": "Node",
                    "selector": {
                        "labelMatch": {
                            "matchLabels": {"rack": "r1"},
                            "matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}],
                        }
                    },
                },
            ],
        },
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, HyperNode("", 0, ())),
        ({"spec": {"tier": "1", "members": {}}}, HyperNode("", 0, ())),
        ({"spec": {"tier": 1, "members": [3, {"type": "Node"}]}}, HyperNode("", 1, (Member("Node"),))),
        (
            {"spec": {"members": [{"type": "Node", "selector": {"name": "n1", "labelMatch": []}}]}},
            HyperNode("", 0, (Member("Node"),)),
        ),
    ],
    ids=["empty", "types", "members", "old-form"],
)
def test_other_shapes_are_empty(data: dict[str, Any], expected: HyperNode) -> None:
    assert topology.read(data) == expected


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_published_ones_are_read_whole() -> None:
    assert SHARED is not None
    found = []
    for path in sorted((SHARED / "corpus/volcano").glob("*.yaml")):
        for data in loaded_all(path.read_text()):
            if isinstance(data, dict) and data.get("kind") == "HyperNode":
                read = topology.read(data)
                assert topology.read(topology.write(read)) == read
                found.append(read.name)
    assert found


NEWEST = versions.parse("")
CLOSE = WorkloadKind("training", within=TopologyAffinity("rack", hard=True))


def nodes(**places: str) -> Member:
    return Member("Node", labels={KEYS[level]: value for level, value in places.items()})


def inside(*names: str) -> tuple[Member, ...]:
    return tuple(Member("HyperNode", name) for name in names)


EXPECTED = (
    HyperNode("zone-a", 3, inside("rack-r1", "rack-r2"), "zone"),
    HyperNode("zone-b", 3, (nodes(zone="b"),), "zone"),
    HyperNode("rack-r1", 2, inside("nvlink-c1", "nvlink-c2"), "rack"),
    HyperNode("rack-r2", 2, (nodes(rack="r2"),), "rack"),
    HyperNode("nvlink-c1", 1, (nodes(nvlink="c1"),), "nvlink"),
    HyperNode("nvlink-c2", 1, (nodes(nvlink="c2"),), "nvlink"),
)


def test_a_tier_for_each_level() -> None:
    assert topology.derived(cluster(), NEWEST) == (EXPECTED, ())


def test_tiers_have_names_since_1_14() -> None:
    unnamed = tuple(each._replace(tier_name="") for each in EXPECTED)
    assert topology.derived(cluster(), versions.parse("1.13")) == (unnamed, ())


def test_nodes_beside_narrower_places_belong_to_the_wider_one_too() -> None:
    pools = (pool("p", shape("n1", rack="r1"), shape("n2"), zone="a"),)
    found, notices = topology.derived(cluster(pools=pools), NEWEST)
    assert found == (
        HyperNode("zone-a", 3, (*inside("rack-r1"), nodes(zone="a")), "zone"),
        HyperNode("rack-r1", 2, (nodes(rack="r1"),), "rack"),
    )
    assert notices == ()


def test_one_value_in_two_wider_places_is_two() -> None:
    pools = (
        pool("a", shape("n1", rack="r1"), zone="a"),
        pool("b", shape("n2", rack="r1"), zone="b"),
        pool("c", shape("n3", rack="r1")),
    )
    found, notices = topology.derived(cluster(pools=pools), NEWEST)
    racks_found = [each for each in found if each.tier_name == "rack"]
    assert [each.members for each in racks_found] == [
        (
            Member(
                "Node", labels={KEYS["rack"]: "r1"}, requirements=(Requirement(KEYS["zone"], "DoesNotExist"),)
            ),
        ),
        (nodes(zone="a", rack="r1"),),
        (nodes(zone="b", rack="r1"),),
    ]
    assert len({each.name for each in racks_found}) == 3
    assert notices == (
        "rack r1 is in no wider level than rack and zone a and zone b: each becomes its own "
        "HyperNode, as a HyperNode can have only one parent. Give every rack its own value",
    )


@given(racks.POOLS)
def test_any_topology_is_ready(pools: tuple[Pool, ...]) -> None:
    found, _ = topology.derived(cluster(pools=pools), NEWEST)
    written = [topology.write(each) for each in found]
    assert refused_hyper_nodes(written, NEWEST) == []
    assert tuple(map(topology.read, written)) == found
    for every in pools:
        for each in every.shapes:
            assert _tiers_of(each.labels, found) == {KEYS_TIERS[key] for key in each.labels}


KEYS_TIERS = {level.key: tier for level, tier in zip(racks.LEVELS, (3, 2, 1), strict=True)}


def _tiers_of(labels: Any, found: tuple[HyperNode, ...]) -> set[int]:
    """Tiers of the HyperNodes that a node with these labels is in; in no two of one tier."""
    by_name = {each.name: each for each in found}

    def holds(each: HyperNode) -> bool:
        for member in each.members:
            if member.kind == "HyperNode":
                if holds(by_name[member.name]):
                    return True
            elif all(labels.get(key) == value for key, value in member.labels.items()) and all(
                requirement.key not in labels for requirement in member.requirements
            ):
                return True
        return False

    tiers = [each.tier for each in found if holds(each)]
    assert len(set(tiers)) == len(tiers)
    return set(tiers)


@pytest.mark.parametrize(
    ("within", "version", "named", "expected"),
    [
        (TopologyAffinity("rack", hard=True), "1.15.1", True, NetworkTopology("hard", tier_name="rack")),
        (TopologyAffinity("rack", hard=True), "1.15.1", False, NetworkTopology("hard", 2)),
        (TopologyAffinity("nvlink"), "1.13", True, NetworkTopology("soft", 1)),
        (TopologyAffinity("zone"), "1.12", True, NetworkTopology("soft", 3)),
        (TopologyAffinity("zone"), "1.11", True, None),
        (TopologyAffinity("switch"), "1.15.1", True, None),
    ],
    ids=["by-name", "by-number", "before-names", "widest", "before-topology", "no-such-level"],
)
def test_bound(within: TopologyAffinity, version: str, named: bool, expected: NetworkTopology | None) -> None:
    assert topology.network_topology(within, cluster(), versions.parse(version), named=named) == expected


def test_a_level_that_no_pool_has_goes_by_number() -> None:
    within = TopologyAffinity("nvlink", hard=True)
    assert topology.network_topology(within, cluster(pools=RACKS[1:]), NEWEST) == NetworkTopology("hard", 1)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (NetworkTopology(), {"mode": "hard"}),
        (NetworkTopology("soft", 0), {"mode": "soft", "highestTierAllowed": 0}),
        (NetworkTopology("hard", tier_name="rack"), {"mode": "hard", "highestTierName": "rack"}),
    ],
    ids=["mode", "tier", "name"],
)
def test_bounds_are_written_and_read(bound: NetworkTopology, expected: dict[str, Any]) -> None:
    assert topology.write_network_topology(bound) == expected
    assert topology.read_network_topology(expected) == bound


@pytest.mark.parametrize(
    ("kind", "pools", "version", "expected"),
    [
        pytest.param(CLOSE, RACKS, "", (), id="written"),
        pytest.param(WorkloadKind("batch"), (pool("p", shape("n")),), "", (), id="nobody-asks"),
        pytest.param(
            CLOSE,
            (pool("p", shape("n")),),
            "",
            (
                "no pool has a topology, so no HyperNodes are written: set topology on the pools, or "
                "let the controller discover them by the labels topology.kubernetes.io/zone, "
                "maip.io/rack, nvidia.com/gpu.clique, kubernetes.io/hostname last",
            ),
            id="undescribed",
        ),
        pytest.param(
            CLOSE,
            (pool("p", shape("n")),),
            "1.12",
            ("no pool has a topology, so no HyperNodes are written: set topology on the pools",),
            id="before-discovery",
        ),
        pytest.param(
            CLOSE,
            RACKS,
            "1.11",
            (
                "Volcano 1.11.2 has no network topology (HyperNodes, added in 1.12.0): within of "
                "training is not written. Nearest: pod affinity on the label of the level",
            ),
            id="before-1.12",
        ),
    ],
)
def test_what_is_said(
    kind: WorkloadKind, pools: tuple[Pool, ...], version: str, expected: tuple[str, ...]
) -> None:
    made, notices = topology.artifacts(cluster(kind, pools=pools, version=version), versions.parse(version))
    assert notices == expected
    assert [each.path for each in made] == (
        ["volcano/hypernodes.yaml"] if pools == RACKS and not version else []
    )


@pytest.mark.skipif(SHARED is None, reason="needs ../shared")
def test_valid_by_the_crd() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert SHARED is not None
    crd = loaded((SHARED / "corpus/crds/volcano/topology.volcano.sh_hypernodes.yaml").read_text())
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (made,), _ = topology.artifacts(cluster(), NEWEST)
    documents = list(loaded_all(made.text))
    assert len(documents) == len(EXPECTED)
    for document in documents:
        jsonschema.validate(document, schema)
