"""What a cluster has of a generated object, beside what the server adds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.live.drift import part_of

CASES: list[tuple[Any, Any, Any]] = [
    ({"a": 1, "default": 2}, {"a": 1}, {"a": 1}),
    ({"a": 2}, {"a": 1}, {"a": 2}),
    ({}, {"a": 1}, {}),
    ({"a": None}, {"a": 1}, {}),
    ({}, {"a": {}, "b": [], "c": "", "d": None}, {"a": {}, "b": [], "c": "", "d": None}),
    ({}, {"a": False}, {"a": False}),
    ({"a": 0}, {"a": False}, {"a": 0}),
    ({"a": True}, {"a": 1}, {"a": True}),
    ({"cpu": "1"}, {"cpu": "1000m"}, {"cpu": "1000m"}),
    ({"cpu": "1"}, {"cpu": 1}, {"cpu": 1}),
    ({"cpu": "1"}, {"cpu": "1001m"}, {"cpu": "1"}),
    ([{"name": "b"}, {"name": "a", "x": 1}], [{"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "b"}]),
    ([{"name": "a"}, {"name": "z"}], [{"name": "a"}], [{"name": "a"}, {"name": "z"}]),
    ([1, 2, 3], [1, 2], [1, 2, 3]),
    ([1], [1, 2], [1]),
    ("text", {"a": 1}, "text"),
]


@pytest.mark.parametrize(("there", "wanted", "part"), CASES)
def test_what_there_is_of_an_object(there: Any, wanted: Any, part: Any) -> None:
    assert part_of(there, wanted) == part
    assert str(part_of(there, wanted)) == str(part)


DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab1m", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(DATA)
def test_an_object_is_equal_to_itself(data: Any) -> None:
    assert part_of(data, data) == data


@given(st.dictionaries(st.text("abc", max_size=2), DATA, max_size=4), st.dictionaries(st.just("zz"), DATA))
def test_what_the_server_adds_is_no_difference(wanted: Any, added: Any) -> None:
    assert part_of({**wanted, **added}, wanted) == wanted


@given(DATA, DATA)
def test_any_data(there: Any, wanted: Any) -> None:
    part_of(there, wanted)
