"""Conditions on one label that no value meets together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.kube.selectors import Requirement, matches
from policykit.placement.label_values import contradiction


def r(operator: str, *values: str, key: str = "a") -> Requirement:
    return Requirement(key, operator, values)


@pytest.mark.parametrize(
    ("selector", "expressions", "expected"),
    [
        pytest.param({}, [r("In", "x"), r("In", "y")], (1, r("In", "x")), id="two sets"),
        pytest.param({}, [r("In", "x", "y"), r("In", "y", "z")], None, id="a common value"),
        pytest.param({}, [r("In", "x"), r("In", "y", key="b")], None, id="two keys"),
        pytest.param({}, [r("NotIn", "x"), r("In", "x")], (1, r("NotIn", "x")), id="NotIn first"),
        pytest.param(
            {}, [r("In", "x", "y"), r("NotIn", "x"), r("NotIn", "y")], (2, r("NotIn", "x")), id="three"
        ),
        pytest.param({"a": "x"}, [r("In", "y")], (0, r("In", "x")), id="the selector"),
        pytest.param({}, [r("DoesNotExist"), r("Exists")], (1, r("DoesNotExist")), id="existence"),
        pytest.param({}, [r("DoesNotExist"), r("NotIn", "x")], None, id="NotIn holds without the label"),
        pytest.param({}, [r("Gt", "5"), r("Lt", "6")], (1, r("Gt", "5")), id="no number between"),
        pytest.param({}, [r("Gt", "5"), r("Lt", "7")], None, id="one number between"),
        pytest.param({}, [r("Gt", "5"), r("In", "3")], (1, r("Gt", "5")), id="a set below"),
    ],
)
def test_contradiction(
    selector: dict[str, str], expressions: list[Requirement], expected: tuple[int, Requirement] | None
) -> None:
    assert contradiction(selector, expressions) == expected


NUMBERS = ["1", "2", "3", "4"]
CONDITIONS = st.one_of(
    st.builds(
        lambda o, v: r(o, *v),
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(NUMBERS), min_size=1),
    ),
    st.builds(lambda o: r(o), st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(lambda o, v: r(o, v), st.sampled_from(["Gt", "Lt"]), st.sampled_from(NUMBERS)),
)


@given(st.lists(CONDITIONS, max_size=4))
def test_what_some_node_meets_is_no_contradiction(conditions: list[Requirement]) -> None:
    nodes: list[dict[str, str]] = [{}, *({"a": str(n)} for n in range(7))]
    met = any(all(matches(condition, labels) for condition in conditions) for labels in nodes)
    if met:
        assert contradiction({}, conditions) is None
