"""Score formulas against numbers that the systems' own functions gave, at the tags in the tables."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from policykit.kube import scores
from policykit.model.cluster import Cluster
from policykit.model.topology import Level
from policykit.model.workload import WorkloadKind
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.scoring import scored_steps
from tests.loaded import loaded
from tests.targets.volcano.node_scores import binpack, strategy_fit

TABLES = Path(__file__).parent / "scores"
KINDS = {"MostAllocated": scores.most, "LeastAllocated": scores.least}


def rows(name: str, of: str = "rows") -> list[dict[str, Any]]:
    table = loaded((TABLES / f"{name}.yaml").read_text(encoding="utf-8"))
    assert table["function"]
    assert table["tags"]
    found: list[dict[str, Any]] = table[of]
    return found


@pytest.mark.parametrize("row", rows("network-topology-aware"), ids=str)
def test_steps_of_closeness(row: dict[str, Any]) -> None:
    """Each level is one step from the next wider one; the same HyperNode scores 1 without this function."""
    levels, tier = row["levels"], row["tier"]
    whole = Cluster("a", (), {}, {}, levels=tuple(Level(str(n), str(n)) for n in range(levels)))
    for version, column in ((versions.parse("1.13"), "before"), (versions.parse("1.14"), "after")):
        steps = scored_steps(whole, version)
        apart = levels + (version >= versions.WIDEST_SCORED)
        alone = levels == 1 and column == "before"
        assert row[column] == pytest.approx(0 if alone else (apart - tier) / steps)


def test_the_widest_level_scored_nothing_before_1_14() -> None:
    widest = [row for row in rows("network-topology-aware") if row["tier"] == row["levels"]]
    assert [row["before"] for row in widest] == [0] * len(widest)
    assert all(row["after"] > 0 for row in widest)


def least_lead(scored: list[list[int]]) -> int:
    """Of a node over one with a lower sum, whichever nodes are candidates."""
    return min(upper - lower for scores_ in scored for lower, upper in pairwise(scores_))


@pytest.mark.parametrize("row", rows("nodeorder"), ids=str)
def test_lead_of_a_preferred_usage(row: dict[str, Any]) -> None:
    """One usage for each sum of weights."""
    usages = [f"usage-{level}" for level in row["levels"]]
    prefer = {usage: level for usage, level in zip(usages, row["levels"], strict=True) if level}
    kind = WorkloadKind("training", tuple(usages), prefer)
    assert weights.preference_gap(kind, normalised=False) * row["weight"] == least_lead([row["before"]])
    assert weights.preference_gap(kind, normalised=True) * row["weight"] == least_lead(row["after"])


@pytest.mark.parametrize("row", rows("binpack"), ids=str)
def test_binpack(row: dict[str, Any]) -> None:
    made = binpack(row["request"], row["used"], row["allocatable"], row["weights"], row["weight"])
    assert made == pytest.approx(row["score"])


@pytest.mark.parametrize("row", [r for r in rows("resource-strategy-fit") if r["requested"]], ids=str)
def test_resource_strategy_fit(row: dict[str, Any]) -> None:
    asked, used, there = ({"r": row[key]} for key in ("requested", "used", "allocatable"))
    made = strategy_fit(asked, used, there, {"r": (row["type"], row["weight"])}, 1)
    share = max(row["score"], 0) / row["weight"] if row["weight"] else 0
    assert made == pytest.approx(100 * share)


@pytest.mark.parametrize("row", rows("resource-strategy-fit", "nodes"), ids=str)
def test_resource_strategy_fit_of_a_node(row: dict[str, Any]) -> None:
    made = strategy_fit(row["request"], row["used"], row["allocatable"], row["resources"], row["weight"])
    assert made == pytest.approx(row["score"])


@pytest.mark.parametrize("row", rows("fit-plus"), ids=str)
def test_fit_plus(row: dict[str, Any]) -> None:
    listed = row["resources"]
    total = sum(
        KINDS[each["type"]](each["requested"], each["allocatable"]) * each["weight"] for each in listed
    )
    assert total // sum(each["weight"] for each in listed) == row["score"]


@pytest.mark.parametrize("row", rows("node-resources-fit"), ids=str)
def test_node_resources_fit(row: dict[str, Any]) -> None:
    assert scores.least(row["requested"], row["allocatable"]) == row["least"]
    assert scores.most(row["requested"], row["allocatable"]) == row["most"]


@pytest.mark.parametrize("row", rows("node-sorting"), ids=str)
def test_node_sorting(row: dict[str, Any]) -> None:
    """The weighted mean of what is used; binpacking takes the node with the least that is free."""
    counted = {name: row["weights"][name] for name in row["shares"] if row["weights"].get(name)}
    used = sum(row["shares"][name] * weight for name, weight in counted.items())
    mean = used / sum(counted.values()) if counted else 0.0
    assert row["score"] == pytest.approx(mean if row["type"] == "fair" else 1 - mean)
