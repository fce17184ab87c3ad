"""Volcano's own part of the policy."""

from __future__ import annotations

from typing import Any

from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated
from policykit.policy.models.targets.volcano import Volcano

_FIRST_OVERRIDE = (1, 10, 0)


def options(draft: Draft, path: Path, stated: Volcano, given: Stated) -> dict[str, Any]:
    """`Target.options` of Volcano."""
    have = given.release
    if have and have < _FIRST_OVERRIDE and stated.delivery == "helm-values":
        message = (
            f"the chart of Volcano {stated.version} carries no scheduler configuration, 1.10 is the first"
        )
        draft.problems.error((*path, "version"), message, "use delivery: manifest")
    weights = {}
    for name, weight in stated.binpack.resources.items():
        place = (*path, "binpack", "resources", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(
                place, f"weight of {name} is below zero: {weight}", "Volcano would take it for 1"
            )
        elif resource:
            weights[resource] = weight
    binpack: dict[str, Any] = {}
    if stated.binpack.weight is not None:
        binpack["weight"] = stated.binpack.weight
    if weights:
        binpack["resources"] = weights
    return {"binpack": binpack} if binpack else {}
