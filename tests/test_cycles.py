"""Cycles of names that refer to one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.cycles import cycles

NAMES = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=3))


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ({}, []),
        ({"a": ["b"], "b": []}, []),
        ({"a": ["a"]}, [("a",)]),
        ({"a": ["x"], "b": ["a"]}, []),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, [("b", "c")]),
        ({"d": ["c"], "c": ["d"], "b": ["a"], "a": ["b"]}, [("d", "c"), ("b", "a")]),
        ({"a": ["b", "c"], "b": ["c"], "c": ["a"]}, [("a", "c")]),
        ({"a": ["b"], "b": ["a", "c"], "c": ["b"]}, [("a", "b")]),
    ],
)
def test_cycles(after: dict[str, list[str]], found: list[tuple[str, ...]]) -> None:
    assert cycles(after) == found


def test_a_long_one() -> None:
    after = {str(n): [str((n + 1) % 10_000)] for n in range(10_000)}
    assert cycles(after) == [tuple(after)]


def reachable(after: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        for name in after.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


@given(GRAPHS)
def test_each_is_one_and_none_is_missed(after: dict[str, list[str]]) -> None:
    found = cycles(after)
    for cycle in found:
        assert all(
            following in after[name] for name, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        )
        assert len(set(cycle)) == len(cycle)
    on_one = {name for name in after if name in reachable(after, name)}
    assert on_one == {
        name
        for name in after
        for cycle in found
        if cycle[0] in reachable(after, name) and name in reachable(after, cycle[0])
    }
    assert len({frozenset(reachable(after, cycle[0]) & on_one) for cycle in found}) == len(found)
