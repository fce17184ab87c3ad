"""Guaranteed, max and maxapplications down the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.model.quantity import amount_text
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
    merged = least(most, above)
    compared = (
        (most, own, _GUARANTEED_OVER_MAX),
        (above, most, _MAX_OVER_ANCESTOR),
    )
    found.extend(problem for each in compared for problem in _fits(here, *each))
    below = total([_guaranteed(child, merged, found) for child in here.children])
    found.extend(_fits(here, own, below, _SUM_OVER_GUARANTEED))
    found.extend(_fits(here, merged, below, _SUM_OVER_MAX))
    return own if any(own.values()) else below


class _Comparison(NamedTuple):
    rule: str
    key: str
    """Which of the queue's amounts is to blame."""
    says: str


_GUARANTEED_OVER_MAX = _Comparison(
    "max-guaranteed", "guaranteed", "max of queue {} holds less {} than is guaranteed"
)
_MAX_OVER_ANCESTOR = _Comparison("max-above", "max", "max of queue {} has more {} than a queue above may use")
_SUM_OVER_GUARANTEED = _Comparison(
    "guaranteed-sum", "guaranteed", "queues below {} are guaranteed more {} than it is"
)
_SUM_OVER_MAX = _Comparison("max-sum", "max", "queues below {} are guaranteed more {} than it may use")


def _fits(here: Located, larger: Counted, smaller: Counted, compared: _Comparison) -> Iterator[Problem]:
    name = too_much(larger, smaller)
    if name:
        says = compared.says.format(here.queue.name, name)
        yield Problem(
            (*here.path, "resources", compared.key, name),
            compared.rule,
            f"{says}: {shown(name, smaller[name])} against {shown(name, larger[name])}",
        )


def shown(name: str, amount: int) -> str:
    """An amount as people write it: 500m of vcore, 4Gi of memory."""
    return amount_text("cpu" if name == CORES else name, amount)


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
