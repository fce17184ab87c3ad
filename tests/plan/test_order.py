"""Orders of moves: they keep every constraint, and where none is found, none exists."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from policykit.plan.order import CapacityConstraint, DomainConstraint, Move, find_order


def constraints(groups: int, phases: int) -> st.SearchStrategy[CapacityConstraint]:
    """Of accepting nodes, or of a gang for room."""

    def of(most: int, needs: st.SearchStrategy[tuple[int, ...]]) -> st.SearchStrategy[CapacityConstraint]:
        row = st.tuples(*(st.integers(0, most) for _ in range(groups)))
        table = st.tuples(*(row for _ in range(phases)))
        base = st.tuples(*(st.integers(0, 2) for _ in range(phases)))
        return st.builds(CapacityConstraint, base, table, table, needs)

    return of(1, st.just(())) | of(3, st.tuples(*(st.integers(1, 8) for _ in range(phases))))


Problem = tuple[list[int], int, list[CapacityConstraint], list[DomainConstraint]]


def domains(groups: int, phases: int) -> st.SearchStrategy[DomainConstraint]:
    """A gang for which there are up to three domains, each with one need or two."""
    gang = constraints(groups, phases).filter(lambda one: bool(one.needs))
    domain = st.lists(gang, min_size=1, max_size=2).map(tuple)
    return st.lists(domain, min_size=1, max_size=3).map(lambda found: DomainConstraint(tuple(found)))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    phases = draw(st.integers(2, 3))
    wanted = draw(st.lists(constraints(len(sizes), phases), max_size=4))
    return sizes, phases, wanted, draw(st.lists(domains(len(sizes), phases), max_size=2))


def exists(
    sizes: list[int], phases: int, wanted: list[CapacityConstraint], within: list[DomainConstraint]
) -> bool:
    """By single nodes, in every order."""
    least = [constraint.floors(sizes) or (0,) * phases for constraint in wanted]
    together = [each for each in within if each.ends(sizes) == (True, True)]
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
            pairs = zip(wanted, least, strict=True)
            kept = all(constraint.offered(sizes, *state) >= floors[state[0]] for constraint, floors in pairs)
            kept = kept and all(each.met(sizes, *state) for each in together)
            if kept and state not in seen:
                seen.add(state)
                pending.append(state)
    return False


@given(problems())
def test_an_order_is_found_if_there_is_one(problem: Problem) -> None:
    sizes, phases, wanted, within = problem
    found = find_order(sizes, phases, wanted, within)
    assert found.exhaustive
    assert (found.moves is not None) == exists(sizes, phases, wanted, within)


@given(problems())
def test_every_state_on_the_way_keeps_every_constraint(problem: Problem) -> None:
    """Also while several nodes are changed, one after another."""
    sizes, phases, wanted, within = problem
    phase, moved = 0, [0] * len(sizes)
    together = [each for each in within if each.ends(sizes) == (True, True)]
    for move in find_order(sizes, phases, wanted, within).moves or ():
        phase += move.group < 0
        for _ in range(max(move.nodes, 1)):
            if move.group >= 0:
                moved[move.group] += 1
            for constraint in wanted:
                floors = constraint.floors(sizes) or (0,) * phases
                assert constraint.offered(sizes, phase, moved) >= floors[phase]
            assert all(each.met(sizes, phase, moved) for each in together)


def test_what_is_given_comes_before_what_is_taken() -> None:
    """A pod set leaves one group for another of the same size: the other is changed first."""
    found = find_order([2, 2], 2, [CapacityConstraint((0, 0), ((True, False),) * 2, ((False, True),) * 2)])
    assert found.moves == (Move(), Move(1, 2), Move(0, 2))


def test_two_that_change_places_have_no_order() -> None:
    one = CapacityConstraint((0, 0), ((True, False),) * 2, ((False, True),) * 2)
    other = CapacityConstraint((0, 0), ((False, True),) * 2, ((True, False),) * 2)
    assert find_order([1, 1], 2, [one, other]).moves is None


def test_a_gang_keeps_its_room_where_the_nodes_alone_would_do() -> None:
    """Two nodes give way to four of half the size: after the first pair, two nodes would be enough again."""
    before, after = ((1, 0),) * 2, ((0, 1),) * 2
    nodes = CapacityConstraint((0, 0), before, after)
    cards = CapacityConstraint((0, 0), ((8, 0),) * 2, ((0, 4),) * 2, (16, 16))
    counted, kept = find_order([2, 2], 2, [nodes]), find_order([2, 4], 2, [nodes, cards])
    assert counted.moves == (Move(), Move(1, 2), Move(0, 2))
    assert kept.moves == (Move(), Move(1, 4), Move(0, 2))
    assert (
        find_order([2, 3], 2, [nodes, cards]).moves is not None
    )  # the gang has 12 cards in the end: no need
