"""Tasks and flows that wait for each other: names that are not there, and circles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.cycles import cycles
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.nearest import Names, some


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
    names = Names(each.name for each in waiting)
    there = frozenset(names.sorted)
    if any(is_placeholder(name) for each in waiting for name in (each.name, *each.after)):
        return
    whole = True
    for each in waiting:
        seen: set[str] = set()
        for position, name in enumerate(each.after):
            path = (*each.path, position)
            if name not in there:
                near = names.nearest(name)
                advice = f"did you mean {near}?" if near else f"name one of {some(there)}"
                yield Violation(
                    path, f"{each.what} {each.name} waits for {name}, which does not exist", advice
                )
                whole = False
            elif name in seen:
                yield Violation(
                    path, f"{each.what} {each.name} names {name} twice in dependsOn", "name it once"
                )
            seen.add(name)
    if whole:
        yield from _circles(waiting)


def _circles(waiting: Sequence[Waiting]) -> Iterator[Violation]:
    named = {each.name: each for each in waiting}
    for circle in cycles({name: each.after for name, each in named.items()}):
        first = named[circle[0]]
        way = " waits for ".join((*circle, first.name))
        yield Violation(
            first.path, f"{first.what}s wait for each other in a circle: {way}", "take one dependsOn out"
        )
