"""Options of Volcano, compiled from sections of a policy."""

from collections.abc import Mapping
from typing import Any

from policykit.targets.volcano.options import JobOptions, PluginOption, TaskTopology, VolcanoOptions


def options(stated: Mapping[str, Any]) -> VolcanoOptions:
    """Of `binpack`, `plugins`, `jobs` and the other sections; resources are those of Kubernetes."""
    binpack, actions = stated.get("binpack", {}), stated.get("actions")
    return VolcanoOptions(
        binpack.get("weight"),
        binpack.get("resources", {}),
        None if actions is None else tuple(actions),
        {name: PluginOption(**plugin) for name, plugin in stated.get("plugins", {}).items()},
        stated.get("metrics", {}),
        stated.get("configurations", {}),
        stated.get("vgpu", False),
        {kind: job(each) for kind, each in stated.get("jobs", {}).items()},
    )


def job(stated: Mapping[str, Any]) -> JobOptions:
    """Of `plugins` and `task_topology`, with lists."""
    topology = stated.get("task_topology", {})
    return JobOptions(
        {name: tuple(arguments) for name, arguments in stated.get("plugins", {}).items()},
        TaskTopology(
            tuple(map(tuple, topology.get("affinity", ()))),
            tuple(map(tuple, topology.get("anti_affinity", ()))),
            tuple(topology.get("order", ())),
        ),
    )
