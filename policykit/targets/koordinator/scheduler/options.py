"""What the policy states for Koordinator's plugins under `targets.koordinator`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.cluster import Target

SECTIONS: Mapping[str, str] = {
    "load_aware": "LoadAwareScheduling",
    "coscheduling": "Coscheduling",
    "elastic_quota": "ElasticQuota",
    "device_share": "DeviceShare",
    "numa": "NodeNUMAResource",
    "scarce": "ScarceResourceAvoidance",
}
"""Key of `Target.options` to the plugin it is about, in the order they are written."""
WEIGHT = "weight"
"""The one key of a section that is no field of the args: the plugin's weight at score."""


class Options(NamedTuple):
    """What is stated; everything else stays as the configuration has it."""

    args: Mapping[str, Mapping[str, Any]] = {}
    """Plugin to fields of its args, as upstream spells them."""
    weights: Mapping[str, int] = {}
    """Plugin to its weight at score."""

    def fields(self, plugin: str) -> Mapping[str, Any]:
        return self.args.get(plugin, {})

    @property
    def plugins(self) -> tuple[str, ...]:
        """Plugins that anything is stated of."""
        return tuple(name for name in SECTIONS.values() if name in self.args or name in self.weights)


def read(target: Target) -> Options:
    """Options of a compiled target: `{section: {field: value, weight: n}}`."""
    args: dict[str, Mapping[str, Any]] = {}
    weights: dict[str, int] = {}
    for section, plugin in SECTIONS.items():
        given = target.options.get(section)
        stated = dict(given) if isinstance(given, Mapping) else {}
        weight = stated.pop(WEIGHT, None)
        if isinstance(weight, int):
            weights[plugin] = weight
        if stated:
            args[plugin] = stated
    return Options(args, weights)


def write(options: Options) -> dict[str, Any]:
    """Sections of `Target.options`: what `read` takes."""
    found: dict[str, Any] = {}
    for section, plugin in SECTIONS.items():
        fields = dict(options.fields(plugin))
        if plugin in options.weights:
            fields[WEIGHT] = options.weights[plugin]
        if fields:
            found[section] = fields
    return found
