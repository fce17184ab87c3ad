"""Plugin resource-strategy-fit (1.13): packing and spreading by resource, and scarce resources kept free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.placement import BINPACK
from policykit.targets.volcano.scheduler import weights
from policykit.targets.volcano.scheduler.config import Plugin

_TYPES = {BINPACK: "MostAllocated"}
_SPREADING = "LeastAllocated"


class Fit(NamedTuple):
    """What the plugin scores."""

    weight: int = 0
    """Of packing and spreading against other scores; 0: another plugin does it, or none."""
    resources: Mapping[str, int] = {}
    """Resource to its weight."""
    strategies: Mapping[str, str] = {}
    """Resource to binpack or spread."""
    scarce: tuple[str, ...] = ()
    """Resources whose nodes are left to those that ask for them."""
    scarce_weight: int = 0

    @property
    def plugin(self) -> Plugin:
        arguments: dict[str, Any] = {"resourceStrategyFitWeight": self.weight}
        # Of weight 0 Volcano would make 1: a resource that counts nothing is not listed.
        listed = {name: weight for name, weight in sorted(self.resources.items()) if weight}
        if self.weight and listed:
            arguments["resources"] = {
                name: {"type": _TYPES.get(self.strategies[name], _SPREADING), "weight": weight}
                for name, weight in listed.items()
            }
        if self.scarce:
            arguments["sra"] = {
                "enable": True,
                "resources": ", ".join(self.scarce),
                "weight": self.scarce_weight,
                "resourceWeight": dict.fromkeys(self.scarce, 1),
            }
        return Plugin("resource-strategy-fit", {}, arguments)


def scarce_weight(resources: int, rivals: int) -> int:
    """Smallest sra weight with which a node without one more of `resources` scarce ones wins by a point.

    Each counts the same, so one of them is `100 / resources` points.
    """
    return weights.divided_up(resources * (100 * rivals + 1), 100)
