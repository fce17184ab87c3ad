from typing import Any

import pytest
import yaml
from hypothesis import given

from policykit.model.pool import Pool
from policykit.model.topology import TopologyAffinity
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.objects import hypernodes, topology
from policykit.targets.volcano.objects.hypernodes import HyperNode, Member, Requirement
from policykit.targets.volcano.objects.topology import Bound
from tests.shared import SHARED
from tests.targets.volcano import racks
from tests.targets.volcano.racks import KEYS, RACKS, cluster, pool, shape
from tests.targets.volcano.webhook import refused_hyper_nodes

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
    written = [hypernodes.write(each) for each in found]
    assert refused_hyper_nodes(written, NEWEST) == []
    assert tuple(map(hypernodes.read, written)) == found
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
        (TopologyAffinity("rack", hard=True), "1.15.1", True, Bound("hard", tier_name="rack")),
        (TopologyAffinity("rack", hard=True), "1.15.1", False, Bound("hard", 2)),
        (TopologyAffinity("nvlink"), "1.13", True, Bound("soft", 1)),
        (TopologyAffinity("zone"), "1.12", True, Bound("soft", 3)),
        (TopologyAffinity("zone"), "1.11", True, None),
        (TopologyAffinity("switch"), "1.15.1", True, None),
    ],
    ids=["by-name", "by-number", "before-names", "widest", "before-topology", "no-such-level"],
)
def test_bound(within: TopologyAffinity, version: str, named: bool, expected: Bound | None) -> None:
    assert topology.bound(within, cluster(), versions.parse(version), named=named) == expected


def test_a_level_that_no_pool_has_goes_by_number() -> None:
    within = TopologyAffinity("nvlink", hard=True)
    assert topology.bound(within, cluster(pools=RACKS[1:]), NEWEST) == Bound("hard", 1)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (Bound(), {"mode": "hard"}),
        (Bound("soft", 0), {"mode": "soft", "highestTierAllowed": 0}),
        (Bound("hard", tier_name="rack"), {"mode": "hard", "highestTierName": "rack"}),
    ],
    ids=["mode", "tier", "name"],
)
def test_bounds_are_written_and_read(bound: Bound, expected: dict[str, Any]) -> None:
    assert topology.write_bound(bound) == expected
    assert topology.read_bound(expected) == bound


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
    crd = yaml.safe_load((SHARED / "corpus/crds/volcano/topology.volcano.sh_hypernodes.yaml").read_text())
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (made,), _ = topology.artifacts(cluster(), NEWEST)
    documents = list(yaml.safe_load_all(made.text))
    assert len(documents) == len(EXPECTED)
    for document in documents:
        jsonschema.validate(document, schema)
