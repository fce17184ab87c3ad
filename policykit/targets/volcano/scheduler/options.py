"""What the policy states for Volcano's scheduler: actions, plugins, metrics, weights of binpack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.catalogue.volcano.check import options_mistakes
from policykit.errors import PolicykitError
from policykit.manifests.path import dotted
from policykit.model.cluster import Cluster, Target
from policykit.targets.volcano import versions
from policykit.targets.volcano.scheduler.weights import LARGEST


class PluginOption(NamedTuple):
    """A plugin as the policy wants it; what is left out is chosen."""

    tier: int | None = None
    """1 or 2."""
    enabled: bool = True
    flags: Mapping[str, bool] = {}
    arguments: Mapping[str, Any] = {}


class Stated(NamedTuple):
    """What the policy fixes; everything else is computed."""

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

    def wants(self, plugin: str) -> bool:
        """Whether the policy itself names a plugin and does not switch it off."""
        return plugin in self.plugins and self.plugins[plugin].enabled

    def refuses(self, plugin: str) -> bool:
        return plugin in self.plugins and not self.plugins[plugin].enabled


def read(cluster: Cluster, target: Target) -> Stated:
    """The target's options. A resource in them may be the name of one of the cluster's cards.

    `binpack` is `{weight, resources: {name: weight}}`, or the resources alone. Raises PolicykitError
    for what Volcano would pass over without a message, or exit on.
    """
    given = target.options
    for mistake in options_mistakes(given, versions.parse(target.version)):
        path = ("targets", "volcano", *mistake.path)
        raise PolicykitError(f"{dotted(path)}: {mistake.message}", mistake.hint, path=path)
    weight, resources = _binpack(given.get("binpack") or {})
    cards = cluster.cards
    actions = given.get("actions")
    return Stated(
        None if weight is None else _checked("binpack.weight", weight),
        {
            cards[name].resource if name in cards else name: _checked(f"binpack weight of {name}", value)
            for name, value in resources.items()
        },
        None if actions is None else tuple(actions),
        {name: PluginOption(**stated) for name, stated in given.get("plugins", {}).items()},
        given.get("metrics", {}),
        given.get("configurations", {}),
        given.get("vgpu", False),
    )


def _binpack(given: Mapping[str, Any]) -> tuple[object, Mapping[str, object]]:
    if "resources" in given or "weight" in given:
        return given.get("weight"), given.get("resources") or {}
    return None, given


def _checked(name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    raise PolicykitError(f"{name} is {value!r}", f"write a whole number from 0 to {LARGEST}")
