"""References by name, such as queues below queues and tasks that wait for tasks: depths, and cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def depth(name: str, parents: Mapping[str, str]) -> int:
    """Number of ancestors of a name that are in `parents` themselves; at most all of them, in a cycle."""
    found, above = 0, parents.get(name, "")
    while above in parents and found < len(parents):
        found, above = found + 1, parents[above]
    return found


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
                path = [name]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
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
        path = [(root, iter(after[root]))] if root not in number else []
        while path:
            name, rest = path[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                open_names[name] = None
            following = next((each for each in rest if each in after and each not in number), None)
            if following is not None:
                path.append((following, iter(after[following])))
                continue
            path.pop()
            lowest[name] = min(lowest[each] for each in (name, *after[name]) if each in open_names)
            if lowest[name] == number[name]:
                members = set()
                while name not in members:
                    members.add(open_names.popitem()[0])
                yield members
