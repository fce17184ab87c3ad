"""Tasks and flows that wait for each other: names that are not there, and circles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.nearest import nearest


class Waiting(NamedTuple):
    """Something that starts after others."""

    what: str
    """task or flow."""
    name: str
    path: Path
    """Of the list of names it waits for."""
    after: tuple[str, ...]


def faults(waiting: Sequence[Waiting]) -> Iterator[Violation]:
    """Each name that is wrong, then each circle once, at its first member."""
    names = [each.name for each in waiting]
    if any(is_placeholder(name) for each in waiting for name in (each.name, *each.after)):
        return
    whole = True
    for each in waiting:
        for position, name in enumerate(each.after):
            path = (*each.path, position)
            if name not in names:
                near = nearest(name, tuple(names))
                advice = f"did you mean {near}?" if near else f"name one of {', '.join(sorted(set(names)))}"
                yield Violation(
                    path, f"{each.what} {each.name} waits for {name}, which does not exist", advice
                )
                whole = False
            elif name in each.after[:position]:
                yield Violation(
                    path, f"{each.what} {each.name} names {name} twice in dependsOn", "name it once"
                )
    if whole:
        yield from _circles(waiting)


def _circles(waiting: Sequence[Waiting]) -> Iterator[Violation]:
    after = {each.name: each.after for each in waiting}
    told: set[str] = set()
    for each in waiting:
        circle = () if each.name in told else _way_back(each.name, after)
        if circle:
            told |= set(circle)
            way = " waits for ".join((*circle, each.name))
            yield Violation(
                each.path, f"{each.what}s wait for each other in a circle: {way}", "take one dependsOn out"
            )


def _way_back(start: str, after: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest way from a name to itself; empty: there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    for way in ways:
        for name in after.get(way[-1], ()):
            if name == start:
                return way
            if name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return ()
