import pytest

from policykit.model.pool import Amounts
from tests.targets.volcano import node_scores as scores
from tests.targets.volcano.clusters import GPU

WEIGHTS = {"cpu": 1, "memory": 1, GPU: 10}
NODE: Amounts = {"cpu": 100_000, "memory": 1000, GPU: 8}


@pytest.mark.parametrize(
    ("asked", "used", "weights", "weight", "expected"),
    [
        pytest.param({GPU: 1}, {}, WEIGHTS, 1, 12.5, id="one-card-of-eight"),
        pytest.param({GPU: 1}, {GPU: 3}, WEIGHTS, 5, 250.0, id="used-counts-and-weight-multiplies"),
        pytest.param(
            {GPU: 1, "cpu": 10_000, "memory": 100},
            {"cpu": 40_000},
            WEIGHTS,
            1,
            (10 / 8 + 0.5 + 0.1) / 12 * 100,
            id="mean-by-weight",
        ),
        pytest.param({GPU: 1, "cpu": 0}, {"cpu": 50_000}, WEIGHTS, 1, 12.5, id="not-asked-for-not-counted"),
        pytest.param(
            {"a.example/x": 1, "cpu": 50_000}, {"a.example/x": 7}, WEIGHTS, 1, 50.0, id="not-configured"
        ),
        pytest.param({GPU: 1, "cpu": 70_000}, {"cpu": 40_000}, WEIGHTS, 1, 0.0, id="one-does-not-fit"),
        pytest.param(
            {"cpu": 50_000, "b.example/y": 1}, {}, {"cpu": 1, "b.example/y": 3}, 1, 12.5, id="node-lacks-it"
        ),
        pytest.param({GPU: 4}, {GPU: 4}, WEIGHTS, 0, 0.0, id="weight-0"),
        pytest.param({GPU: 4, "cpu": 50_000}, {}, {GPU: 0, "cpu": 1}, 1, 50.0, id="resource-weight-0"),
        pytest.param({"pods": 1}, {}, WEIGHTS, 1, 0.0, id="nothing-counted"),
    ],
)
def test_binpack(
    asked: Amounts, used: Amounts, weights: dict[str, int], weight: int, expected: float
) -> None:
    assert scores.binpack(asked, used, NODE, weights, weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("used", "least", "most", "balanced"),
    [
        pytest.param({}, 85, 15, 95, id="empty"),
        pytest.param({"cpu": 90_000, "memory": 0}, 40, 60, 60, id="cpu-full"),
        pytest.param({"cpu": 95_000, "memory": 700}, 5, 95, 95, id="cpu-over"),
    ],
)
def test_parts_of_cpu_and_memory(used: Amounts, least: int, most: int, balanced: int) -> None:
    asked = {"cpu": 10_000, "memory": 200}
    assert scores.least_requested(asked, used, NODE) == least
    assert scores.most_requested(asked, used, NODE) == most
    assert scores.balanced_resource(asked, used, NODE) == balanced


def test_balanced_sees_no_card_but_nvidia() -> None:
    node = {"cpu": 100, "memory": 100, "huawei.com/Ascend910": 8, GPU: 8}
    asked = {"cpu": 50, "memory": 50}
    assert scores.balanced_resource({**asked, "huawei.com/Ascend910": 8}, {}, node) == 100
    assert scores.balanced_resource({**asked, GPU: 8}, {}, node) == 76


def test_normalised_over_the_candidates() -> None:
    assert scores.node_affinity([100, 60, 0]) == (100, 60, 0)
    assert scores.node_affinity([60, 30]) == (100, 50)
    assert scores.node_affinity([0, 0]) == (0, 0)
    assert scores.taint_toleration([0, 1, 3]) == (100, 67, 0)
    assert scores.taint_toleration([0, 0]) == (100, 100)


def test_nodeorder_sums_what_is_switched_on() -> None:
    assert scores.nodeorder({"nodeaffinity": 50, "leastrequested": 90}, {"nodeaffinity": 3}) == 150
