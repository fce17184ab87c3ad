"""What the policy states for Volcano's binpack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from policykit.errors import PolicykitError
from policykit.model.cluster import Cluster, Target
from policykit.targets.volcano.weights import LARGEST


class Stated(NamedTuple):
    """Weights the policy fixes; everything else is computed."""

    weight: int | None = None
    """binpack.weight."""
    resources: Mapping[str, int] = {}
    """Resource to its weight inside binpack."""


def read(cluster: Cluster, target: Target) -> Stated:
    """`options.binpack`: `{weight, resources: {name: weight}}`, or the resources alone.

    A resource may be the name of one of the cluster's cards. Raises PolicykitError for what is no
    whole number of 0 or more: Volcano would take its default without a message.
    """
    given = target.options.get("binpack") or {}
    whole = "resources" in given or "weight" in given
    resources = (given.get("resources") or {}) if whole else given
    weight = given.get("weight") if whole else None
    cards = cluster.cards
    return Stated(
        None if weight is None else _checked("binpack.weight", weight),
        {
            cards[name].resource if name in cards else name: _checked(f"binpack weight of {name}", value)
            for name, value in resources.items()
        },
    )


def _checked(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    raise PolicykitError(f"{name} is {value!r}", f"write a whole number from 0 to {LARGEST}")
