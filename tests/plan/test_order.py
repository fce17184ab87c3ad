"""Orders of moves: they keep every demand, and where none is found, none exists."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from policykit.plan.order import Demand, Move, find_order


def demands(groups: int, phases: int) -> st.SearchStrategy[Demand]:
    row = st.tuples(*(st.booleans() for _ in range(groups)))
    table = st.tuples(*(row for _ in range(phases)))
    base = st.tuples(*(st.integers(0, 2) for _ in range(phases)))
    return st.builds(Demand, base, table, table)


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[int], int, list[Demand]]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    phases = draw(st.integers(2, 3))
    return sizes, phases, draw(st.lists(demands(len(sizes), phases), max_size=4))


def exists(sizes: list[int], phases: int, wanted: list[Demand]) -> bool:
    """By single nodes, in every order."""
    least = [demand.floor(sizes) for demand in wanted]
    end = (phases - 1, tuple(sizes))
    start = (0, tuple(0 for _ in sizes))
    seen, pending = {start}, deque([start])
    while pending:
        phase, moved = pending.popleft()
        if (phase, moved) == end:
            return True
        following = [(phase + 1, moved)] if phase + 1 < phases else []
        for group, size in enumerate(sizes):
            if moved[group] < size:
                following.append((phase, (*moved[:group], moved[group] + 1, *moved[group + 1 :])))
        for state in following:
            kept = all(d.nodes(sizes, *state) >= number for d, number in zip(wanted, least, strict=True))
            if kept and state not in seen:
                seen.add(state)
                pending.append(state)
    return False


@given(questions())
def test_an_order_is_found_if_there_is_one(question: tuple[list[int], int, list[Demand]]) -> None:
    sizes, phases, wanted = question
    found = find_order(sizes, phases, wanted)
    assert found.exhaustive
    assert (found.moves is not None) == exists(sizes, phases, wanted)


@given(questions())
def test_every_state_on_the_way_keeps_every_demand(question: tuple[list[int], int, list[Demand]]) -> None:
    sizes, phases, wanted = question
    phase, moved = 0, [0] * len(sizes)
    for move in find_order(sizes, phases, wanted).moves or ():
        if move.group < 0:
            phase += 1
        else:
            moved[move.group] += move.nodes
        assert all(demand.nodes(sizes, phase, moved) >= demand.floor(sizes) for demand in wanted)


def test_what_is_given_comes_before_what_is_taken() -> None:
    """A pod set leaves one group for another of the same size: the other is changed first."""
    found = find_order([2, 2], 2, [Demand((0, 0), ((True, False),) * 2, ((False, True),) * 2)])
    assert found.moves == (Move(), Move(1, 2), Move(0, 2))


def test_two_that_change_places_have_no_order() -> None:
    one = Demand((0, 0), ((True, False),) * 2, ((False, True),) * 2)
    other = Demand((0, 0), ((False, True),) * 2, ((True, False),) * 2)
    assert find_order([1, 1], 2, [one, other]).moves is None
