"""Options for Volcano, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.names import dns_label_problem
from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.model.shared_cards import VOLCANO
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.releases import Release
from policykit.policy.models.targets import volcano as written
from policykit.policy.models.targets.volcano import Binpack, Jobs, Volcano
from policykit.policy.problems import did_you_mean
from policykit.targets.volcano.job_plugins import check
from policykit.targets.volcano.options import JobOptions, PluginOption, TaskTopology, VolcanoOptions
from policykit.targets.volcano.scheduler.arguments import option_problems
from policykit.targets.volcano.scheduler.weights import LARGEST


def compile_options(draft: Draft, path: Path, stated: Volcano, installed: Release | None) -> TargetSettings:
    """VolcanoOptions; with vgpu, or a pool shared so, its device plugin shares NVIDIA cards."""
    shared = [name for name, pool in draft.policy.pools.items() if pool.sharing.mode == VOLCANO]
    vgpu = stated.vgpu or bool(shared)
    made = VolcanoOptions(
        *_binpack(draft, (*path, "binpack"), stated.binpack),
        stated.actions,
        {
            name: PluginOption(plugin.tier, plugin.enabled, dict(plugin.flags), _plain(plugin.arguments))
            for name, plugin in stated.plugins.items()
        },
        dict(stated.metrics),
        _plain(stated.configurations),
        vgpu,
        _jobs(draft, (*path, "jobs"), stated.jobs, installed),
        stated.gangs == "objects",
    )
    plugins = {name: plugin._asdict() for name, plugin in made.plugins.items()}
    for problem in option_problems({**made._asdict(), "plugins": plugins}, installed):
        if problem.path == ("vgpu",) and not stated.vgpu:
            mode = ("pools", shared[0], "sharing", "mode")
            draft.problems.error(mode, problem.message, "upgrade Volcano, or share the cards in another way")
        else:
            draft.problems.error((*path, *problem.path), problem.message, problem.help, key=problem.key)
    return TargetSettings("volcano", options=made, card_vendors=frozenset({"nvidia-volcano"} if vgpu else ()))


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
    """The data with lists instead of the tuples that models have."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _jobs(
    draft: Draft, path: Path, stated: Mapping[str, Jobs], installed: Release | None
) -> dict[str, JobOptions]:
    """Workload kind to the options of its jobs."""
    found: dict[str, JobOptions] = {}
    for name, each in stated.items():
        place = (*path, name)
        kinds = draft.names("workloads")
        if name not in kinds and not draft.problems.broken(("workloads",)):
            message = f"there is no workload kind {name!r}"
            draft.problems.error(place, message, did_you_mean(name, kinds), key=True)
        for problem in check(each.plugins, installed):
            where = (*place, "plugins", *problem.path)
            draft.problems.error(where, problem.message, problem.help, key=problem.key)
        topology = TaskTopology()
        if each.task_topology:
            _check_tasks(draft, (*place, "taskTopology"), each.task_topology)
            topology = TaskTopology(
                each.task_topology.affinity, each.task_topology.anti_affinity, each.task_topology.order
            )
        if each.plugins or any(topology):
            found[name] = JobOptions(dict(each.plugins), topology)
    return found


def _check_tasks(draft: Draft, path: Path, stated: written.TaskTopology) -> None:
    """Names are joined with commas and semicolons in an annotation, so they must not contain any."""
    for key, groups in (("affinity", stated.affinity), ("antiAffinity", stated.anti_affinity)):
        for number, group in enumerate(groups):
            for index, name in enumerate(group):
                draft.check((*path, key, number, index), f"task {name!r}", dns_label_problem(name))
    for index, name in enumerate(stated.order):
        draft.check((*path, "order", index), f"task {name!r}", dns_label_problem(name))
