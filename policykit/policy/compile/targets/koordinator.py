"""Koordinator's own part of the policy."""

from __future__ import annotations

from typing import Any

from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated
from policykit.policy.models.targets.koordinator import Koordinator

_FIRST_FIT_PLUS = (1, 6, 0)


def options(draft: Draft, path: Path, stated: Koordinator, given: Stated) -> dict[str, Any]:
    """`Target.options` of Koordinator."""
    have, texts = given.release, given.texts
    if stated.fit and have and have < _FIRST_FIT_PLUS:
        message = f"Koordinator {stated.version} has no NodeResourcesFitPlus, 1.6 is the first that has"
        draft.problems.error((*path, "fit"), message, "remove fit, or install 1.6.1 or newer", key=True)
    options: dict[str, Any] = {}
    fit = {}
    for name, each in stated.fit.items():
        resource = resource_of(draft, (*path, "fit", name), name)
        if resource:
            fit[resource] = {"type": each.type, "weight": each.weight}
    if fit:
        options["fit"] = fit
    if stated.config in texts:
        options["config"] = texts[stated.config]
    return options
