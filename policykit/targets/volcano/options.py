"""Options for Volcano in a policy, for features that only Volcano has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import TargetSettings
from policykit.namedtuple import NamedTuple


class PluginOption(NamedTuple):
    """Options of a plugin. Those that are not set are computed."""

    tier: int | None = None
    """1 or 2."""
    enabled: bool = True
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}


class TaskTopology(NamedTuple):
    """Which tasks of a job share nodes, by name."""

    affinity: tuple[tuple[str, ...], ...] = ()
    anti_affinity: tuple[tuple[str, ...], ...] = ()
    order: tuple[str, ...] = ()


class JobOptions(NamedTuple):
    """Options of a workload kind's Volcano Jobs."""

    plugins: Mapping[str, tuple[str, ...]] = {}
    """Job plugin to its arguments."""
    task_topology: TaskTopology = TaskTopology()


class VolcanoOptions(NamedTuple):
    """Options of the target. Those that are not set are computed."""

    weight: int | None = None
    """binpack.weight."""
    resources: Mapping[str, int] = {}
    """Resource to its weight inside binpack."""
    actions: tuple[str, ...] | None = None
    """None: computed."""
    plugins: Mapping[str, PluginOption] = {}
    metrics: Mapping[str, str] = {}
    configurations: Mapping[str, Mapping[str, Any]] = {}
    vgpu: bool = False
    """Whether cards are shared as vGPUs, by Volcano's own device plugin."""
    jobs: Mapping[str, JobOptions] = {}
    """Workload kind to the options of its jobs."""
    gang_objects: bool = False
    """Whether gangs are PodGroups also where annotations would do."""

    def enables(self, plugin: str) -> bool:
        """Whether the policy names a plugin and does not switch it off."""
        return plugin in self.plugins and self.plugins[plugin].enabled

    def disables(self, plugin: str) -> bool:
        return plugin in self.plugins and not self.plugins[plugin].enabled


def volcano_options(settings: TargetSettings | None) -> VolcanoOptions:
    """The options of a compiled policy; the defaults if Volcano is not one of its targets."""
    stated = settings.options if settings else None
    return stated if isinstance(stated, VolcanoOptions) else VolcanoOptions()
