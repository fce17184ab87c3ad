"""Placeholders in values, and regular expressions that Go accepts and Python refuses, or the reverse."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.targets.yunikorn.configuration import values
from policykit.targets.yunikorn.configuration.values import contains_placeholder, is_regular_expression
from tests.targets.yunikorn.clusters import GIB, GPU

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab*", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from(["${QUEUE}", "<queue>", "{{ .queue }}", "$(QUEUE)"]))
def test_a_placeholder_is_found_wherever_it_is(data: object, placeholder: str) -> None:
    assert not contains_placeholder(data)
    assert contains_placeholder([data, {"queue": [placeholder]}])
    assert contains_placeholder({"queue": data, placeholder: data})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "^kube-system$",
        "dev*",
        "[[:alpha:]]+",
        "[[:^digit:]]",
        r"\pL+\z",
        "a(?i)b",
        "(?P<a>x)",
        r"\\1",
        "a{2,3}",
    ],
)
def test_valid_regular_expression(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_regular_expression(text)


@pytest.mark.parametrize("text", ["(", "a)", "[", "*a", "a**", "(?=x)", "(?<!x)y", r"(a)\1", "(?(1)a)"])
def test_invalid_regular_expression(text: str) -> None:
    assert not is_regular_expression(text)


@given(st.text(alphabet="ab()[]{}*+?\\^$|.:,=!<1P", max_size=20))
def test_any_text_is_decided(text: str) -> None:
    assert is_regular_expression(text) in (True, False)


LARGEST = (1 << 63) - 1


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("vcore", "4", 4000),
        ("vcore", "500m", 500),
        ("vcore", "1k", 1_000_000),
        ("vcore", str(LARGEST), None),
        ("memory", "8Gi", 8 * GIB),
        ("memory", " 8 Gi ", 8 * GIB),
        ("memory", "010", 10),
        ("memory", "7Ei", 7 << 60),
        ("memory", "8Ei", None),
        ("memory", "500m", None),
        ("memory", "1.5Gi", None),
        ("memory", "8GB", None),
        ("memory", "8K", None),
        ("memory", "8ki", None),
        ("memory", "-1", None),
        ("memory", "1e3", None),
        ("memory", "", None),
        (GPU, "8", 8),
        (GPU, "mi", None),
        ("vcore", "1mi", None),
    ],
)
def test_quantities(resource: str, text: str, amount: int | None) -> None:
    assert values.quantity(resource, text) == amount


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", "ephemeral-storage", GPU]),
    st.integers(0, 2**50) | st.integers(0, 2**20).map(lambda n: n << 30),
)


@given(AMOUNTS)
def test_amounts_keep_their_size(amounts: dict[str, int]) -> None:
    assert values.to_amounts(values.from_amounts(amounts)) == amounts


@pytest.mark.parametrize(
    ("amounts", "texts"),
    [
        ({"cpu": 1500, "memory": 2 * GIB, GPU: 8}, {"vcore": "1500m", "memory": "2Gi", GPU: "8"}),
        ({"cpu": 4000, "pods": 20}, {"vcore": "4", "pods": "20"}),
    ],
    ids=["thousandths", "cores"],
)
def test_written(amounts: dict[str, int], texts: dict[str, str]) -> None:
    assert values.from_amounts(amounts) == texts


def test_cpu_counts_for_no_pod() -> None:
    assert values.to_amounts({"cpu": "4", "vcore": "2", "memory": "x"}) == {"cpu": 2000}


def test_what_is_not_named_is_unlimited() -> None:
    assert values.first_excess({"vcore": 1}, {"memory": 5}) == ""
    assert values.first_excess({"vcore": 1, GPU: 0}, {GPU: 1, "vcore": 1}) == GPU
    assert values.minimum({"a": 3}, {"a": 2, "b": 5}) == {"a": 2, "b": 5}
