"""Defaults and bounds of containers, checked for order; never of cards."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import ContainerRange
from policykit.policy.compile.amounts import amounts
from policykit.policy.compile.draft import Draft
from policykit.policy.models.priority import Containers

_LIMITABLE = ("cpu", "memory", "ephemeral-storage")
_PARTS = {"default": "default", "default_request": "defaultRequest", "minimum": "min", "maximum": "max"}
"""Field of `ContainerRange` to its key in the policy."""
_LADDER = (
    ("default_request", "default"),
    ("default", "maximum"),
    ("minimum", "default_request"),
    ("default_request", "maximum"),
    ("minimum", "default"),
    ("minimum", "maximum"),
)


def container_range(draft: Draft, path: Path, stated: Containers | None) -> ContainerRange | None:
    """What containers may and do request; None if the policy sets nothing."""
    if stated is None:
        return None
    found = ContainerRange(
        _amounts(draft, (*path, "default"), stated.default),
        _amounts(draft, (*path, "defaultRequest"), stated.default_request),
        _amounts(draft, (*path, "min"), stated.min),
        _amounts(draft, (*path, "max"), stated.max),
    )
    told: set[tuple[str, str]] = set()
    for low, high in _LADDER:
        less, more = getattr(found, low), getattr(found, high)
        for resource in sorted(less.keys() & more.keys()):
            if less[resource] > more[resource] and (low, resource) not in told:
                told.add((low, resource))
                have, limit = amount_text(resource, less[resource]), amount_text(resource, more[resource])
                message = f"{_PARTS[low]} of {resource} is {have}, above {_PARTS[high]} {limit}"
                draft.problems.error((*path, _PARTS[low], resource), message, "lower it")
    return found


def _amounts(draft: Draft, path: Path, stated: dict[str, str]) -> Amounts:
    for name in stated:
        if name not in _LIMITABLE:
            card = name in draft.cards or "/" in name or name in draft.names("cards")
            message = (
                f"a LimitRange on {name} would give {'cards' if name in draft.cards else 'it'} to containers "
                "that request none"
                if card
                else f"a LimitRange for containers covers cpu, memory and ephemeral-storage, not {name}"
            )
            hint = "limit it in the quota itself, under requests" if card else ""
            draft.problems.error((*path, name), message, hint, key=True)
    return amounts(draft, path, {name: text for name, text in stated.items() if name in _LIMITABLE})
