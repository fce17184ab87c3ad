"""Options for Koordinator: what only Koordinator has, and the rest of the policy cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.cluster import TargetSettings


class Fit(NamedTuple):
    """How NodeResourcesFitPlus scores one resource."""

    type: str
    """MostAllocated or LeastAllocated."""
    weight: int


class PodClass(NamedTuple):
    """The priority and QoS class of the pods of a workload kind."""

    priority: str
    """prod, mid, batch or free."""
    qos: str
    order: int | None = None
    """Among pods of one class; higher goes first."""
    tenants: tuple[str, ...] = ()
    """Only in their namespaces, and in `namespaces`; both empty: anywhere."""
    namespaces: tuple[str, ...] = ()


class KoordinatorOptions(NamedTuple):
    """Options of the target; what is not set is computed, or stays as the chart has it."""

    fit: Mapping[str, Fit] = {}
    """Resource to its score in the target's own profile."""
    config: str = ""
    """Text of the koord-scheduler-config to merge into: the configuration, or its ConfigMap; empty: the
    chart's."""
    args: Mapping[str, Mapping[str, Any]] = {}
    """Plugin to fields of its args, as upstream spells them."""
    weights: Mapping[str, int] = {}
    """Plugin to its weight at score."""
    classes: Mapping[str, PodClass] = {}
    """Workload kind to the class of its pods."""
    priority_classes: bool = False
    """Koordinator's PriorityClasses are written too."""

    def fields(self, plugin: str) -> Mapping[str, Any]:
        return self.args.get(plugin, {})


def of(settings: TargetSettings | None) -> KoordinatorOptions:
    """The options of a compiled policy; the defaults if Koordinator is not one of its targets."""
    stated = settings.options if settings else None
    return stated if isinstance(stated, KoordinatorOptions) else KoordinatorOptions()
