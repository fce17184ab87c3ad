"""Dependencies among tasks and flows: unknown names, and cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.catalogue.volcano.wording import suggestion
from policykit.cycles import cycles
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path


class Dependent(NamedTuple):
    """Something that starts after others."""

    what: str
    """task or flow."""
    name: str
    path: Path
    """Of the list of names it depends on."""
    targets: tuple[str, ...]


def dependency_violations(dependents: Sequence[Dependent]) -> Iterator[Violation]:
    """Each name that is wrong, then each cycle once, at its first member."""
    names = [each.name for each in dependents]
    there = frozenset(names)
    if any(is_placeholder(name) for each in dependents for name in (each.name, *each.targets)):
        return
    known = True
    for each in dependents:
        seen: set[str] = set()
        for position, name in enumerate(each.targets):
            path = (*each.path, position)
            if name not in there:
                message = f"{each.what} {each.name} depends on {name}, which does not exist"
                yield Violation(path, message, suggestion(name, names, f"{each.what}s"))
                known = False
            elif name in seen:
                message = f"{each.what} {each.name} lists {name} twice in dependsOn"
                yield Violation(path, message, "list it once")
            seen.add(name)
    if known:
        yield from _cycles(dependents)


def _cycles(dependents: Sequence[Dependent]) -> Iterator[Violation]:
    paths = {each.name: (each.what, each.path) for each in dependents}
    for cycle in cycles({each.name: each.targets for each in dependents}):
        what, path = paths[cycle[0]]
        chain = " depends on ".join((*cycle, cycle[0]))
        yield Violation(path, f"{what}s depend on each other in a cycle: {chain}", "remove one dependsOn")
