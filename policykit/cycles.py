"""Cycles in references by name: queues below queues, tasks that wait for tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def cycles(after: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """A cycle for each group of names that refer to one another: the shortest from its first name.

    In the order of `after`; names that are not keys refer to nothing. Linear in names and references.
    """
    rank = {name: number for number, name in enumerate(after)}
    found = (_shortest(min(members, key=rank.__getitem__), members, after) for members in _connected(after))
    return sorted(filter(None, found), key=lambda cycle: rank[cycle[0]])


def _shortest(start: str, members: set[str], after: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The path from a name back to itself; empty if there is none."""
    before: dict[str, str] = {}
    pending = [start]
    for name in pending:
        for following in after[name]:
            if following == start:
                way = [name]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return tuple(reversed(way))
            if following in members and following not in before:
                before[following] = name
                pending.append(following)
    return ()


def _connected(after: Mapping[str, Sequence[str]]) -> Iterator[set[str]]:
    """Groups of names that refer to one another (strongly connected components, Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: dict[str, None] = {}
    for root in after:
        way = [(root, iter(after[root]))] if root not in number else []
        while way:
            name, rest = way[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                open_names[name] = None
            following = next((each for each in rest if each in after and each not in number), None)
            if following is not None:
                way.append((following, iter(after[following])))
                continue
            way.pop()
            lowest[name] = min(lowest[each] for each in (name, *after[name]) if each in open_names)
            if lowest[name] == number[name]:
                members = set()
                while name not in members:
                    members.add(open_names.popitem()[0])
                yield members
