"""An order of node changes and merges in which no pod set loses nodes that it need not lose.

A constraint is given by what each node of a group offers to a template before and after the node's change:
itself, or room for a gang. Between the changes of the template, called phases, and of the nodes there must
never be less than at the start or at the end, whichever is smaller; for a gang never less than it needs, if
start and end have that. A node that is being changed offers what it offers both before and after its change:
labels and taints are changed one after the other, and a pod that accepts both states accepts the mixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policykit.namedtuple import NamedTuple

_WORK = 4_000_000
"""Sums that a search may take; above that it ends without an answer."""


class CapacityConstraint(NamedTuple):
    """What pod sets with the same templates, or a gang, must have at any time."""

    base: tuple[int, ...]
    """[phase] What nodes that no change concerns offer."""
    before: tuple[tuple[int, ...], ...]
    """[phase][group] What each node offers before the group is changed: 1 if nodes are counted, else pods or
    an amount of a resource."""
    after: tuple[tuple[int, ...], ...]
    """[phase][group] after it."""
    needs: tuple[int, ...] = ()
    """[phase] What a gang needs; empty: nodes are counted."""

    def offered(self, sizes: Sequence[int], phase: int, moved: Sequence[int]) -> int:
        """What all nodes offer, with `moved` nodes of each group changed."""
        return self.base[phase] + sum(
            number * self.after[phase][group] + (sizes[group] - number) * self.before[phase][group]
            for group, number in enumerate(moved)
        )

    def ends(self, sizes: Sequence[int]) -> tuple[int, int]:
        """What is offered at the start and at the end."""
        return self.offered(sizes, 0, [0] * len(sizes)), self.offered(sizes, len(self.before) - 1, sizes)

    def floors(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """[phase] The least that must be offered; empty: a gang that does not fit at the start or the end."""
        start, end = self.ends(sizes)
        if not self.needs:
            return (min(start, end),) * len(self.before)
        return self.needs if start >= self.needs[0] and end >= self.needs[-1] else ()

    def met(self, sizes: Sequence[int], phase: int, moved: Sequence[int]) -> bool:
        """Whether a gang has what it needs."""
        return self.offered(sizes, phase, moved) >= self.needs[phase]


class DomainConstraint(NamedTuple):
    """A gang whose pods must be within one domain of a topology, such as a rack."""

    domains: tuple[tuple[CapacityConstraint, ...], ...]
    """[domain] What the gang needs there; at any time all of it must be met in one of them."""

    def met(self, sizes: Sequence[int], phase: int, moved: Sequence[int]) -> bool:
        return any(all(each.met(sizes, phase, moved) for each in domain) for domain in self.domains)

    def ends(self, sizes: Sequence[int]) -> tuple[bool, bool]:
        """Whether it is met at the start and at the end."""
        last = max((len(each.before) for domain in self.domains for each in domain), default=1) - 1
        return self.met(sizes, 0, [0] * len(sizes)), self.met(sizes, last, sizes)


class Move(NamedTuple):
    """The next phase, or a number of nodes of a group."""

    group: int = -1
    """-1: a merge."""
    nodes: int = 0


class Order(NamedTuple):
    """The moves, if some order was found."""

    moves: tuple[Move, ...] | None
    exhaustive: bool = True
    """Every order was tried; False: the search was given up."""


def find_order(
    sizes: Sequence[int],
    phases: int,
    constraints: Sequence[CapacityConstraint],
    within: Sequence[DomainConstraint] = (),
) -> Order:
    """The moves that change every group and go through every phase. What is `within` a domain at the start
    and at the end is at any time."""
    floors = _floors(sizes, constraints)
    kept = tuple(each for each in dict.fromkeys(within) if all(each.ends(sizes)))
    sums = len(floors) + sum(len(domain) for each in kept for domain in each.domains)
    most = max(200, _WORK // max(1, len(sizes) * len(sizes) * max(1, sums)))
    search = _Search(tuple(sizes), phases, floors, kept)
    start = (0, (0,) * len(sizes))
    path: list[tuple[tuple[int, tuple[int, ...]], Iterator[Move], Move]] = [
        (start, search.moves(start), Move())
    ]
    seen = {start}
    while path:
        state, moves, _ = path[-1]
        if state == (phases - 1, tuple(sizes)):
            return Order(tuple(move for _, _, move in path[1:]))
        for move in moves:
            reached = search.after(state, move)
            if reached not in seen and search.allows(state, move):
                seen.add(reached)
                path.append((reached, search.moves(reached), move))
                break
        else:
            path.pop()
        if len(seen) > most:
            return Order(None, exhaustive=False)
    return Order(None)


def _floors(
    sizes: Sequence[int], constraints: Iterable[CapacityConstraint]
) -> Mapping[CapacityConstraint, tuple[int, ...]]:
    """The floors of all demands; those for the same offers are one."""
    found: dict[CapacityConstraint, tuple[int, ...]] = {}
    for constraint in constraints:
        floors, alike = constraint.floors(sizes), constraint._replace(needs=())
        if floors:
            found[alike] = tuple(map(max, floors, found.get(alike, floors)))
    return found


class _Search(NamedTuple):
    sizes: tuple[int, ...]
    phases: int
    floors: Mapping[CapacityConstraint, tuple[int, ...]]
    """[phase] The least that must be offered, by constraint."""
    within: tuple[DomainConstraint, ...] = ()

    def after(self, state: tuple[int, tuple[int, ...]], move: Move) -> tuple[int, tuple[int, ...]]:
        phase, moved = state
        if move.group < 0:
            return phase + 1, moved
        number = moved[move.group] + move.nodes
        return phase, (*moved[: move.group], number, *moved[move.group + 1 :])

    def allows(self, state: tuple[int, tuple[int, ...]], move: Move) -> bool:
        """Whether all states are allowed that a move goes through. What all nodes offer only falls or only
        rises while nodes of a group are changed; of domains one may fall while another rises."""
        phase, moved = self.after(state, move)
        if not all(
            constraint.offered(self.sizes, phase, moved) >= floors[phase]
            for constraint, floors in self.floors.items()
        ):
            return False
        parts = [Move(move.group, nodes) for nodes in range(1, move.nodes)] if self.within else []
        states = [self.after(state, each) for each in (*parts, move)]
        return all(each.met(self.sizes, *reached) for each in self.within for reached in states)

    def moves(self, state: tuple[int, tuple[int, ...]]) -> Iterator[Move]:
        """The first merge, groups that nobody loses, as many nodes of others as are allowed, another merge,
        then single nodes."""
        phase, moved = state
        if phase == 0:
            yield Move()
        open_groups = [group for group, size in enumerate(self.sizes) if moved[group] < size]
        losing = {group: self._loses(phase, group) for group in open_groups}
        for group in sorted(open_groups, key=lambda group: losing[group]):
            rest = self.sizes[group] - moved[group]
            most = min(rest, self._most(state, group)) if losing[group] else rest
            if most > 0:
                yield Move(group, most)
        if 0 < phase < self.phases - 1:
            yield Move()
        yield from (Move(group, 1) for group in open_groups)

    def _loses(self, phase: int, group: int) -> bool:
        return any(each.before[phase][group] > each.after[phase][group] for each in self.floors)

    def _most(self, state: tuple[int, tuple[int, ...]], group: int) -> int:
        """Nodes of a group that may be changed at once."""
        phase, moved = state
        return min(
            (constraint.offered(self.sizes, phase, moved) - floors[phase])
            // (constraint.before[phase][group] - constraint.after[phase][group])
            for constraint, floors in self.floors.items()
            if constraint.before[phase][group] > constraint.after[phase][group]
        )
