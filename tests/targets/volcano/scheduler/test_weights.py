import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.model.workload import WorkloadKind
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.weights import Step


@pytest.mark.parametrize(
    ("cards", "weight", "fill", "rivals", "expected"),
    [
        (8, 32, 2, 6, 103),
        (16, 64, 2, 6, 199),
        (4, 16, 2, 6, 55),
        (8, 17, 2, 6, 914),
        (8, 10, 0, 6, 49),
        (1, 10, 2, 6, 10),
        (8, 16, 2, 6, None),
        (8, 10, 2, 6, None),
    ],
)
def test_packing_weight(cards: int, weight: int, fill: int, rivals: int, expected: int | None) -> None:
    assert weights.packing_weight(Step("r", cards, weight, fill), rivals) == expected


@given(st.integers(1, 64), st.integers(0, 9), st.integers(1, 500), st.integers(0, 50))
def test_packing_weight_is_the_smallest(cards: int, fill: int, above: int, rivals: int) -> None:
    step = Step("r", cards, cards * fill + above, fill)
    weight = weights.packing_weight(step, rivals)
    assert weight is not None
    assert 100 * weight * step.lead >= (100 * rivals + 1) * step.scale
    assert 100 * (weight - 1) * step.lead < (100 * rivals + 1) * step.scale


@pytest.mark.parametrize(
    ("gap", "rivals", "expected"),
    [(100, 109, 110), (40, 109, 273), (1, 109, 10_901), (100, 6, 7), (60, 109, 182)],
)
def test_preference_weight(gap: int, rivals: int, expected: int) -> None:
    assert weights.preference_weight(gap, rivals) == expected


@pytest.mark.parametrize(
    ("usages", "prefer", "expected"),
    [
        pytest.param(("a", "b"), {"a": 100}, 100, id="one"),
        pytest.param(("a", "b"), {"a": 1}, 100, id="a-lone-weight-is-normalised"),
        pytest.param(("a", "b"), {"a": 100, "b": 60}, 40, id="both"),
        pytest.param(("a", "b", "c"), {"a": 100, "b": 60}, 40, id="two-of-three"),
        pytest.param(("a", "b", "c"), {"a": 100, "b": 90, "c": 30}, 10, id="three"),
        pytest.param((), {"a": 100, "b": 60}, 40, id="any-usage"),
        pytest.param((), {"a": 30}, 100, id="any-usage-one"),
        pytest.param(("a", "b"), {"a": 70, "b": 70}, 100, id="alike"),
        pytest.param(("a", "b", "c"), {"a": 70, "b": 70}, 100, id="alike-before-another"),
        pytest.param(("a", "b"), {}, 100, id="none"),
        pytest.param(("a", "b"), {"a": 100, "b": 99}, 1, id="closest"),
        pytest.param(("a", "b", "c"), {"a": 3, "b": 2, "c": 1}, 33, id="integers-are-cut"),
    ],
)
def test_preference_gap(usages: tuple[str, ...], prefer: dict[str, int], expected: int) -> None:
    assert weights.preference_gap(WorkloadKind("k", usages, prefer)) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"), [((8,), 8), ((4, 8), 8), ((8, 6), 24), ((7, 8, 9, 11), 11)], ids=str
)
def test_common_multiple(sizes: tuple[int, ...], expected: int) -> None:
    assert weights.common_multiple(sizes) == expected


@pytest.mark.parametrize(("cards", "fill", "expected"), [(8, 2, 32), (1, 2, 10), (8, 0, 10), (16, 5, 160)])
def test_card_weight(cards: int, fill: int, expected: int) -> None:
    assert weights.card_weight(cards, fill) == expected
