"""Options for Volcano, compiled."""

from __future__ import annotations

from typing import Any

from policykit.catalogue.volcano.options import option_problems
from policykit.manifests.path import Path
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.targets.stated import Stated, SystemOptions
from policykit.policy.compile.targets.volcano_jobs import jobs
from policykit.policy.models.targets.volcano import Binpack, Volcano
from policykit.targets.volcano.options import PluginOption, VolcanoOptions
from policykit.targets.volcano.scheduler.weights import LARGEST

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
    made = VolcanoOptions(
        *_binpack(draft, (*path, "binpack"), stated.binpack),
        stated.actions,
        {
            name: PluginOption(plugin.tier, plugin.enabled, dict(plugin.flags), _plain(plugin.arguments))
            for name, plugin in stated.plugins.items()
        },
        dict(stated.metrics),
        _plain(stated.configurations),
        stated.vgpu,
        jobs(draft, (*path, "jobs"), stated.jobs, have),
    )
    plugins = {name: plugin._asdict() for name, plugin in made.plugins.items()}
    for problem in option_problems({**made._asdict(), "plugins": plugins}, have):
        draft.problems.error((*path, *problem.path), problem.message, problem.help, key=problem.key)
    return SystemOptions(made, card_vendors=frozenset({"nvidia-volcano"} if stated.vgpu else ()))


def _binpack(draft: Draft, path: Path, stated: Binpack) -> tuple[int | None, dict[str, int]]:
    """Weight of the plugin, and of each resource inside it."""
    weights = {}
    if stated.weight is not None and stated.weight > LARGEST:
        draft.problems.error((*path, "weight"), f"weight is {stated.weight}, above {LARGEST}")
    for name, weight in stated.resources.items():
        place = (*path, "resources", name)
        resource = resource_of(draft, place, name)
        if weight < 0:
            draft.problems.error(
                place, f"weight of {name} is {weight}, below 0", "write 0 or more: Volcano would use 1"
            )
        elif weight > LARGEST:
            draft.problems.error(place, f"weight of {name} is {weight}, above {LARGEST}")
        elif resource:
            weights[resource] = weight
    return stated.weight, weights


def _plain(value: Any) -> Any:
    """Data of any shape as JSON has it: the models keep lists as tuples."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
