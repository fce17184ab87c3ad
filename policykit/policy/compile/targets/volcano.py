"""Options for Volcano, compiled."""

from __future__ import annotations

from typing import Any

from policykit.catalogue.volcano.options import option_problems
from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated, SystemOptions
from policykit.policy.compile.targets.volcano_jobs import jobs
from policykit.policy.models.targets.volcano import Volcano

_FIRST_OVERRIDE = (1, 10, 0)


def options(draft: Draft, path: Path, stated: Volcano, given: Stated) -> SystemOptions:
    """`TargetSettings.options` of Volcano; its own device plugin shares cards of NVIDIA."""
    have = given.release
    if have and have < _FIRST_OVERRIDE and stated.delivery == "helm-values":
        message = (
            f"the chart of Volcano {stated.version} has no value for the scheduler configuration (added in "
            "1.10)"
        )
        draft.problems.error((*path, "version"), message, "use delivery: manifest")
    weights = {}
    for name, weight in stated.binpack.resources.items():
        place = (*path, "binpack", "resources", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(
                place, f"weight of {name} is {weight}, below 0", "write 0 or more: Volcano would use 1"
            )
        elif resource:
            weights[resource] = weight
    made = _scheduler(stated)
    for problem in option_problems(made, have):
        draft.problems.error((*path, *problem.path), problem.message, problem.help, key=problem.key)
    binpack: dict[str, Any] = {}
    if stated.binpack.weight is not None:
        binpack["weight"] = stated.binpack.weight
    if weights:
        binpack["resources"] = weights
    found = jobs(draft, (*path, "jobs"), stated.jobs, have)
    compiled = {**({"binpack": binpack} if binpack else {}), **made, **({"jobs": found} if found else {})}
    return SystemOptions(compiled, card_vendors=frozenset({"nvidia-volcano"} if stated.vgpu else ()))


def _scheduler(stated: Volcano) -> dict[str, Any]:
    """Options for the scheduler's configuration; keys that are not set are left out."""
    plugins = {
        name: {
            **({} if plugin.tier is None else {"tier": plugin.tier}),
            **({} if plugin.enabled else {"enabled": False}),
            **({"flags": dict(plugin.flags)} if plugin.flags else {}),
            **({"arguments": _plain(plugin.arguments)} if plugin.arguments else {}),
        }
        for name, plugin in stated.plugins.items()
    }
    found: dict[str, Any] = {
        "actions": list(stated.actions) if stated.actions is not None else None,
        "plugins": plugins,
        "metrics": dict(stated.metrics),
        "configurations": _plain(stated.configurations),
        "vgpu": stated.vgpu or None,
    }
    return {key: value for key, value in found.items() if value is not None and value != {}}


def _plain(value: Any) -> Any:
    """Data of any shape as JSON has it: the models keep lists as tuples."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
