"""Options for Koordinator in a policy, for features that only Koordinator has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import TargetSettings
from policykit.namedtuple import NamedTuple


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
    """Order among pods of one class. Higher goes first."""
    tenants: tuple[str, ...] = ()
    """The class applies in their namespaces and in `namespaces`. Both empty: everywhere."""
    namespaces: tuple[str, ...] = ()


class KoordinatorOptions(NamedTuple):
    """Options of the target. Those not set are computed, or keep the chart's value."""

    fit: Mapping[str, Fit] = {}
    """Resource to its score in the target's own profile."""
    config: str = ""
    """Text of the koord-scheduler-config to merge into, or of its ConfigMap. Empty: the chart's."""
    args: Mapping[str, Mapping[str, Any]] = {}
    """Plugin to fields of its args, under their upstream names."""
    weights: Mapping[str, int] = {}
    """Plugin to its weight at score."""
    classes: Mapping[str, PodClass] = {}
    """Workload kind to the class of its pods."""
    priority_classes: bool = False
    """Whether Koordinator's PriorityClasses are written too."""
    gang_objects: bool = False
    """Whether gangs are PodGroups also where annotations would do."""

    def fields(self, plugin: str) -> Mapping[str, Any]:
        return self.args.get(plugin, {})


def koordinator_options(settings: TargetSettings | None) -> KoordinatorOptions:
    """The options of a compiled policy; the defaults if Koordinator is not one of its targets."""
    stated = settings.options if settings else None
    return stated if isinstance(stated, KoordinatorOptions) else KoordinatorOptions()
