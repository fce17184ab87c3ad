"""Daemons reach the nodes that generation taints."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.catalogue.cards import Vendor, vendors
from policykit.catalogue.daemons import charts
from policykit.kube.tolerations import read, tolerates
from policykit.model.cluster import Renames
from policykit.model.pool import Card, Taint, Toleration
from policykit.targets.nodes.daemons import complete_tolerations
from tests.targets.nodes.clusters import PRODUCT, TAINTS, USAGE, cluster, pool, texts

FOLDER = "nodes/daemons/"
NVIDIA = (
    "dcgm-exporter",
    "dra-driver-nvidia-gpu",
    "gpu-operator",
    "hami",
    "node-feature-discovery",
    "nvidia-device-plugin",
)
OURS = [
    {"key": USAGE, "operator": "Exists", "effect": "NoSchedule"},
    {"key": PRODUCT, "operator": "Exists", "effect": "NoSchedule"},
]


def daemons(made: dict[str, str]) -> dict[str, Any]:
    return {
        path.removeprefix(FOLDER): yaml.safe_load(text)
        for path, text in made.items()
        if path.startswith(FOLDER)
    }


def at(values: Any, path: str) -> Any:
    for step in path.split("."):
        values = values[step]
    return values


@pytest.mark.parametrize("chart", [each for each in charts() if each.vendor in ("", "nvidia")], ids=str)
def test_lists_are_whole(chart: Any) -> None:
    values = daemons(texts(cluster()))[f"{chart.chart}.yaml"]
    found = read(at(values, chart.value))
    assert found[: len(chart.tolerations)] == chart.tolerations
    for taint in TAINTS:
        assert any(tolerates(toleration, taint) for toleration in found)


def test_files_for_the_cards_there_are() -> None:
    assert sorted(daemons(texts(cluster()))) == [f"{chart}.yaml" for chart in NVIDIA]


@pytest.mark.parametrize(
    "made",
    [
        cluster(pool(taints=())),
        cluster(pool(taints=(Taint("a", "b", "PreferNoSchedule"),))),
        cluster(pool(), card=Card("h20", "example.com/dongle")),
        cluster(pool(card="")),
        cluster(pool(), forms=("labels",)),
    ],
    ids=[
        "no taints",
        "taints that keep nothing away",
        "card nobody knows",
        "no cards",
        "taints not asked for",
    ],
)
def test_nothing_where_nothing_is_needed(made: Any) -> None:
    assert daemons(texts(made)) == {}


def test_charts_that_ship_enough_are_left_alone() -> None:
    made = cluster(pool(taints=(Taint("nvidia.com/gpu", "present"),)))
    found = daemons(texts(made))
    assert sorted(found) == ["dcgm-exporter.yaml", "hami.yaml", "node-feature-discovery.yaml"]


def test_discovery_on_every_node_tolerates_the_other_pools_too() -> None:
    plain = pool(name="cpu", card="", taints=(Taint("team", "web"),))
    found = daemons(texts(cluster(pool(), plain)))
    added = {"key": "team", "operator": "Exists", "effect": "NoSchedule"}
    assert added in found["node-feature-discovery.yaml"]["worker"]["tolerations"]
    assert added not in found["gpu-operator.yaml"]["daemonsets"]["tolerations"]


def test_other_vendors_have_a_patch() -> None:
    ascend = Card("h20", "huawei.com/Ascend910", "huawei")
    found = daemons(texts(cluster(card=ascend)))
    assert sorted(found) == ["huawei-daemonset.yaml", "node-feature-discovery.yaml"]
    tolerations = found["huawei-daemonset.yaml"]["spec"]["template"]["spec"]["tolerations"]
    assert {"key": "huawei.com/Ascend910", "operator": "Exists", "effect": "NoSchedule"} in tolerations
    assert tolerations[-2:] == OURS


def test_cards_shared_by_a_scheduler_are_still_their_makers() -> None:
    shared = Card("h20", "nvidia.com/gpu", "nvidia-hami")
    assert sorted(daemons(texts(cluster(card=shared)))) == [f"{chart}.yaml" for chart in NVIDIA]


def lists(values: Any) -> list[Any]:
    """Every list of tolerations in values or a patch."""
    if not isinstance(values, dict):
        return []
    own = [each for key, each in values.items() if "olerations" in key and isinstance(each, list)]
    return [*own, *(found for each in values.values() for found in lists(each))]


@pytest.mark.parametrize("vendor", vendors(), ids=lambda vendor: vendor.vendor)
def test_daemons_of_every_vendor_reach_its_nodes(vendor: Vendor) -> None:
    """A chart's values or a patch for its daemons is there, and every list in it holds the pool's taints."""
    made = daemons(texts(cluster(card=Card("h20", vendor.resource, vendor.vendor))))
    assert set(made) > {"node-feature-discovery.yaml"}
    for values in made.values():
        written = [read(each) for each in lists(values)]
        assert written
        assert all(any(tolerates(each, taint) for each in found) for found in written for taint in TAINTS)


def test_daemons_tolerate_the_taints_of_a_former_domain() -> None:
    """Those nodes have them until they are changed, and a rolled-out DaemonSet would not come back there."""
    former = "old.example.com/node.usage"
    made = cluster()._replace(formerly=Renames({former: USAGE}))
    for values in daemons(texts(made)).values():
        for written in lists(values):
            assert any(tolerates(each, Taint(former, "training")) for each in read(written))


KEYS = st.sampled_from(["a", "b", "c"])
EFFECTS = st.sampled_from(["NoSchedule", "NoExecute"])
SHIPPED = st.lists(
    st.builds(Toleration, KEYS, st.just("Exists"), effect=EFFECTS)
    | st.builds(Toleration, KEYS, st.just("Equal"), st.sampled_from(["", "x"]), EFFECTS)
    | st.just(Toleration("", "Exists")),
    max_size=3,
)


@given(SHIPPED, st.lists(st.builds(Taint, KEYS, st.sampled_from(["", "x"]), EFFECTS), max_size=5))
def test_whole_answers_every_taint_and_keeps_what_was_there(
    shipped: list[Toleration], taints: list[Taint]
) -> None:
    found = complete_tolerations(shipped, taints)
    assert list(found[: len(shipped)]) == shipped
    assert all(any(tolerates(toleration, taint) for toleration in found) for taint in taints)
    for added in range(len(shipped), len(found)):
        without = [*found[:added], *found[added + 1 :]]
        assert any(not any(tolerates(t, taint) for t in without) for taint in taints), "nothing needless"
