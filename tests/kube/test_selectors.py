"""Requirements and label selectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube import selectors
from policykit.kube.selectors import MALFORMED, Requirement

NAME_RULE = "must begin and end with a letter or digit, with only letters, digits, '-', '_' and '.' between"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["key", "operator", "values", "matchLabels", "matchExpressions", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("raw", "requirement"),
    [
        ({"key": "a", "operator": "In", "values": ["x", "y"]}, Requirement("a", "In", ("x", "y"))),
        ({"key": "a", "operator": "Exists", "values": None}, Requirement("a", "Exists")),
        ({"key": "a"}, Requirement("a", "")),
        ({"key": "a", "operator": "In", "values": [1, True]}, Requirement("a", "In", ("1", "true"))),
        ({"key": "a", "operator": "In", "values": [{}]}, MALFORMED),
        ({"key": "a", "operator": "In", "values": "x"}, MALFORMED),
        ({"key": True, "operator": "Exists"}, MALFORMED),
        (None, MALFORMED),
        ("{{ . }}", MALFORMED),
    ],
)
def test_read(raw: object, requirement: Requirement) -> None:
    assert selectors.read(raw) == requirement


@pytest.mark.parametrize(
    ("requirement", "problem"),
    [
        (Requirement("a", "In", ("x",)), ""),
        (Requirement("a", "Gt", ("007",)), ""),
        (Requirement("a", "In"), "has operator In without values"),
        (Requirement("a", "Exists", ("x",)), "has operator Exists, which takes no values, and values"),
        (Requirement("a", "Gt", ("1", "2")), "has operator Gt with 2 values, it takes one"),
        (Requirement("a", "Lt", ("80GB",)), "compares with '80GB', which is not a whole number"),
        (
            Requirement("a", "Gt", ("9223372036854775808",)),
            "compares with '9223372036854775808', which is not a whole number",
        ),
        (Requirement("a", "Gt", ("-1",)), f"has the value '-1', which {NAME_RULE}"),
        (Requirement("", "Exists"), "has the key '', which is empty"),
        (
            Requirement("a", "in", ("x",)),
            "has operator 'in', known are In, NotIn, Exists, DoesNotExist, Gt, Lt",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_problem(requirement: Requirement, problem: str) -> None:
    assert selectors.problem(requirement) == problem


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("0" * 5000 + "1", 1),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("", None),
        ("1_0", None),
        ("7.5", None),
        ("1\n", None),
        ("٣", None),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_int64(text: str, number: int | None) -> None:
    assert selectors.int64(text) == number


VALUES = st.sampled_from(["", "0", "7", "08", "x", "80GB"])
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(["a", "b"]),
    st.sampled_from(OPERATORS),
    st.lists(VALUES, max_size=2).map(tuple),
)
LABELS = st.dictionaries(st.sampled_from(["a", "b"]), VALUES)


@given(REQUIREMENTS, LABELS)
def test_opposites(requirement: Requirement, labels: dict[str, str]) -> None:
    opposite = {"In": "NotIn", "Exists": "DoesNotExist"}.get(requirement.operator)
    if opposite:
        other = requirement._replace(operator=opposite)
        assert selectors.matches(requirement, labels) != selectors.matches(other, labels)


@given(REQUIREMENTS, LABELS)
def test_comparisons_need_the_key_and_are_strict(requirement: Requirement, labels: dict[str, str]) -> None:
    gt = requirement._replace(operator="Gt")
    lt = requirement._replace(operator="Lt")
    met = [selectors.matches(gt, labels), selectors.matches(lt, labels)]
    assert met.count(True) <= (requirement.key in labels)
    if labels.get(requirement.key) in requirement.values:
        assert met == [False, False]


@given(ANYTHING)
def test_readers_take_anything(raw: object) -> None:
    assert isinstance(selectors.problem(selectors.read(raw)), str)
