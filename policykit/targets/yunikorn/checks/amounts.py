"""Guaranteed, max and maxapplications down the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.resources import (
    CORES,
    Counted,
    counted,
    least,
    quantity,
    too_much,
    total,
)


def resources(tree: Located) -> Iterator[Problem]:
    """Amounts are amounts, and fit into each other; what one side does not name is not compared."""
    found: list[Problem] = []
    _guaranteed(tree, {}, found)
    yield from found


def _guaranteed(here: Located, above: Counted, found: list[Problem]) -> dict[str, int]:
    """What the levels above count for a queue; `above` is the smallest max of its ancestors."""
    stated = here.queue.resources
    for key, texts in (("guaranteed", stated.guaranteed), ("max", stated.maximum)):
        found.extend(unreadable(texts, (*here.path, "resources", key)))
    own, most = counted(stated.guaranteed), counted(stated.maximum)
    _fits(here, most, own, "max-guaranteed", "max of queue {} holds less {} than is guaranteed", found)
    _fits(here, above, most, "max-above", "max of queue {} has more {} than a queue above it may use", found)
    merged = least(most, above)
    below = total([_guaranteed(child, merged, found) for child in here.children])
    _fits(here, own, below, "guaranteed-sum", "queues below {} are guaranteed more {} than it is", found)
    _fits(here, merged, below, "max-sum", "queues below {} are guaranteed more {} than it may use", found)
    return own if any(own.values()) else below


def _fits(
    here: Located, larger: Counted, smaller: Counted, rule: str, says: str, found: list[Problem]
) -> None:
    name = too_much(larger, smaller)
    if name:
        shown = f"{_shown(name, smaller[name])} against {_shown(name, larger[name])}"
        found.append(
            Problem((*here.path, "resources"), rule, f"{says.format(here.queue.name, name)}: {shown}")
        )


def _shown(name: str, amount: int) -> str:
    return f"{amount}m" if name == CORES else str(amount)


def unreadable(texts: Mapping[str, str] | None, path: Path) -> Iterator[Problem]:
    """Amounts that are none."""
    for name, text in (texts or {}).items():
        if quantity(name, text) is None:
            message = (
                f"{text!r} is no amount of {name}: a whole number, with k M G T P E or Ki Mi Gi Ti Pi Ei"
            )
            yield Problem((*path, name), "amount", message + (", or m" if name == CORES else ""))


def applications(tree: Located) -> Iterator[Problem]:
    """Below a queue with maxapplications every queue has one, and none has more."""
    for each in tree.walk():
        most = each.queue.applications
        for child in each.children if most else ():
            own, path = child.queue.applications, (*child.path, "maxapplications")
            if not own:
                message = f"queue {child.queue.name} needs maxapplications: {each.queue.name} has {most}"
                yield Problem(child.path, "applications", message)
            elif own > most:
                message = f"queue {child.queue.name} allows {own} applications, {each.queue.name} only {most}"
                yield Problem(path, "applications", message)
