"""Options of the policy for Volcano's scheduler: actions, plugins, metrics, weights of binpack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue.volcano.options import option_problems
from policykit.errors import PolicykitError
from policykit.manifests.path import dotted
from policykit.model.cluster import Cluster, TargetSettings
from policykit.targets.volcano import versions
from policykit.targets.volcano.options import of
from policykit.targets.volcano.scheduler.weights import LARGEST


class PluginOption(NamedTuple):
    """Options of a plugin; what is left out is chosen."""

    tier: int | None = None
    """1 or 2."""
    enabled: bool = True
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}


class VolcanoOptions(NamedTuple):
    """Options of the target; everything else is computed."""

    weight: int | None = None
    """binpack.weight."""
    resources: Mapping[str, int] = {}
    """Resource to its weight inside binpack."""
    actions: tuple[str, ...] | None = None
    """None: chosen."""
    plugins: Mapping[str, PluginOption] = {}
    metrics: Mapping[str, str] = {}
    configurations: Mapping[str, Mapping[str, Any]] = {}
    vgpu: bool = False
    """Cards are shared as vGPUs, by Volcano's own device plugin."""

    def enables(self, plugin: str) -> bool:
        """Whether the policy names a plugin and does not switch it off."""
        return plugin in self.plugins and self.plugins[plugin].enabled

    def disables(self, plugin: str) -> bool:
        return plugin in self.plugins and not self.plugins[plugin].enabled


def read_options(cluster: Cluster, target: TargetSettings) -> VolcanoOptions:
    """The target's options. A resource in them may be the name of one of the cluster's cards.

    `binpack` is `{weight, resources: {name: weight}}`, or the resources alone. Raises PolicykitError
    for what Volcano would ignore without a message, or exit on.
    """
    options = of(target)
    for problem in option_problems(options, versions.parse(target.version)):
        path = ("targets", "volcano", *problem.path)
        raise PolicykitError(f"{dotted(path)}: {problem.message}", problem.help, path=path)
    weight, resources = _binpack(options.get("binpack") or {})
    cards = cluster.cards
    actions = options.get("actions")
    return VolcanoOptions(
        None if weight is None else _checked("binpack.weight", weight),
        {
            cards[name].resource if name in cards else name: _checked(f"binpack weight of {name}", value)
            for name, value in resources.items()
        },
        None if actions is None else tuple(actions),
        {name: PluginOption(**plugin) for name, plugin in options.get("plugins", {}).items()},
        options.get("metrics", {}),
        options.get("configurations", {}),
        options.get("vgpu", False),
    )


def _binpack(options: Mapping[str, Any]) -> tuple[object, Mapping[str, object]]:
    if "resources" in options or "weight" in options:
        return options.get("weight"), options.get("resources") or {}
    return None, options


def _checked(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    raise PolicykitError(f"{name} is {value!r}", f"write a whole number from 0 to {LARGEST}")
