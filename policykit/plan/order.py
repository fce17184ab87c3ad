"""An order of node changes and merges in which no pod set loses nodes that it need not lose.

A pod set is given by which groups of nodes accept its template before and after their change. Between
the changes of its template, called phases, and of the nodes it must never have fewer accepting nodes than
at the start or at the end, whichever is smaller. A node that is being changed counts for a pod set if it
counts before and after its change: labels and taints are changed one after the other, and a pod that
accepts both states accepts the mixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.namedtuple import NamedTuple

_WORK = 4_000_000
"""Sums that a search may take; above that it ends without an answer."""


class Demand(NamedTuple):
    """Pod sets with the same templates: what accepts them, by phase and group."""

    base: tuple[int, ...]
    """[phase] Accepting nodes that no change concerns."""
    before: tuple[tuple[bool, ...], ...]
    """[phase][group] before the group is changed."""
    after: tuple[tuple[bool, ...], ...]
    """[phase][group] after it."""

    def nodes(self, sizes: Sequence[int], phase: int, moved: Sequence[int]) -> int:
        """Accepting nodes, with `moved` nodes of each group changed."""
        return self.base[phase] + sum(
            number * self.after[phase][group] + (sizes[group] - number) * self.before[phase][group]
            for group, number in enumerate(moved)
        )

    def floor(self, sizes: Sequence[int]) -> int:
        start = self.nodes(sizes, 0, [0] * len(sizes))
        return min(start, self.nodes(sizes, len(self.before) - 1, sizes))


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


def find_order(sizes: Sequence[int], phases: int, demands: Sequence[Demand]) -> Order:
    """The moves that change every group and go through every phase."""
    floors = [demand.floor(sizes) for demand in demands]
    most = max(200, _WORK // max(1, len(sizes) * len(sizes) * max(1, len(demands))))
    search = _Search(tuple(sizes), phases, demands, floors)
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
            if reached not in seen and search.allows(reached):
                seen.add(reached)
                path.append((reached, search.moves(reached), move))
                break
        else:
            path.pop()
        if len(seen) > most:
            return Order(None, exhaustive=False)
    return Order(None)


class _Search(NamedTuple):
    sizes: tuple[int, ...]
    phases: int
    demands: Sequence[Demand]
    floors: Sequence[int]

    def after(self, state: tuple[int, tuple[int, ...]], move: Move) -> tuple[int, tuple[int, ...]]:
        phase, moved = state
        if move.group < 0:
            return phase + 1, moved
        number = moved[move.group] + move.nodes
        return phase, (*moved[: move.group], number, *moved[move.group + 1 :])

    def allows(self, state: tuple[int, tuple[int, ...]]) -> bool:
        phase, moved = state
        return all(
            demand.nodes(self.sizes, phase, moved) >= floor
            for demand, floor in zip(self.demands, self.floors, strict=True)
        )

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
        return any(each.before[phase][group] and not each.after[phase][group] for each in self.demands)

    def _most(self, state: tuple[int, tuple[int, ...]], group: int) -> int:
        phase, moved = state
        return min(
            demand.nodes(self.sizes, phase, moved) - floor
            for demand, floor in zip(self.demands, self.floors, strict=True)
            if demand.before[phase][group] and not demand.after[phase][group]
        )
