"""koord-scheduler's own formulas, by hand."""

import pytest

from policykit.targets.koordinator.options import Fit
from tests.targets.koordinator.clusters import DONGLE, NODE
from tests.targets.koordinator.scheduler.scores import (
    Device,
    device_share,
    estimated_load,
    fit_plus,
    load_aware,
    numa,
)

FIT = {DONGLE: Fit("MostAllocated", 20), "cpu": Fit("LeastAllocated", 2), "memory": Fit("LeastAllocated", 1)}
MIB = 2**20

FIT_PLUS = {
    # (20 * 25 + 2 * 98 + 1 * 98) / 23
    "first pod of the seed": (NODE, {}, {"cpu": 40, "memory": 40 * MIB, DONGLE: 2}, 34),
    # (20 * 50 + 2 * 96 + 1 * 96) / 23
    "second on the same node": (
        NODE,
        {"cpu": 40, "memory": 40 * MIB, DONGLE: 2},
        {"cpu": 40, "memory": 40 * MIB, DONGLE: 2},
        56,
    ),
    "only what the pod asks for counts": (NODE, {DONGLE: 4}, {DONGLE: 2}, 75),
    "a pod that asks for nothing listed": (NODE, {DONGLE: 4}, {"x.io/y": 1}, 100),
    "a node without the resource, full weight": ({"cpu": 1000}, {}, {"cpu": 500, DONGLE: 1}, 4),
    "more than there is": (NODE, {"cpu": 1999, DONGLE: 8}, {"cpu": 2, DONGLE: 1}, 90),
}


@pytest.mark.parametrize(("node", "used", "asked", "points"), FIT_PLUS.values(), ids=FIT_PLUS)
def test_fit_plus(node: dict[str, int], used: dict[str, int], asked: dict[str, int], points: int) -> None:
    assert fit_plus(FIT, node, used, asked) == points


def test_fit_plus_counts_what_the_scheduler_assumes() -> None:
    # One of two containers states no cpu: 100m are assumed for it.
    assert fit_plus({"cpu": FIT["cpu"]}, NODE, {}, {"cpu": 500}, {"cpu": 600}) == 70


@pytest.mark.parametrize(
    ("estimated", "dominant", "points"),
    [
        ({"cpu": 500, "memory": 0}, 0, 87),
        ({"cpu": 500, "memory": 0}, 2, 81),
        ({"cpu": 2001, "memory": 0}, 0, 50),
        (None, 0, 0),
    ],
    ids=["mean", "the worst resource counts twice", "overloaded", "no metric"],
)
def test_load_aware(estimated: dict[str, int] | None, dominant: int, points: int) -> None:
    assert load_aware({"cpu": 1, "memory": 1}, {"cpu": 2000, "memory": 10}, estimated, dominant) == points


def test_load_aware_without_weights() -> None:
    assert load_aware({}, NODE, {}) == 0


@pytest.mark.parametrize(
    ("resource", "requested", "limit", "factor", "load"),
    [
        ("cpu", 1000, 0, 85, 850),
        ("cpu", 1000, 2000, 85, 1700),
        ("cpu", 10, 10, 85, 9),
        ("cpu", 0, 0, 85, 250),
        ("memory", 0, 0, 70, 200 * MIB),
        ("x.io/y", 0, 0, 70, 0),
    ],
)
def test_estimated_load(resource: str, requested: int, limit: int, factor: int, load: int) -> None:
    assert estimated_load(resource, requested, limit, factor) == load


def test_numa_scores_real_requests() -> None:
    weights = {"cpu": 1, "memory": 1, DONGLE: 2}
    assert numa("LeastAllocated", weights, {"cpu": 1000, "memory": 100}, {"cpu": 500}, {"cpu": 250}) == 62
    assert numa("MostAllocated", weights, NODE, {DONGLE: 4}, {DONGLE: 2}) == 37


def test_device_share_uses_the_share_of_one_device() -> None:
    # Eight cards, four of them free, a pod that asks for whole ones: 800 percent in all.
    assert device_share("LeastAllocated", [[Device(800, 400, 100)]]) == 37
    assert device_share("MostAllocated", [[Device(800, 400, 100), Device(0, 0, 0)]]) == 62
    assert device_share("LeastAllocated", [[Device(800, 400, 100)], [Device(100, 100, 50)]]) == 87
