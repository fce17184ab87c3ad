"""The placement that workload kinds ask for: one configuration scores every pod, so one is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.placement import BINPACK, SPREAD, Placement
from policykit.model.workload import WorkloadKind

SCHEDULER_NAME = "volcano"


class DesiredPlacement(NamedTuple):
    """How the configuration should place pods."""

    strategy: str = BINPACK
    placement: Placement | None = None
    """The named placement it is taken from; None: kinds state a strategy alone, or nothing."""
    avoid: tuple[str, ...] = ()
    """Scarce resources of every placement in play."""
    others: tuple[str, ...] = ()
    """Kinds with another named placement, which the configuration does not follow."""

    def strategy_of(self, resource: str) -> str:
        stated = self.placement.resources.get(resource) if self.placement else None
        return stated.strategy if stated else self.strategy

    @property
    def weights(self) -> Mapping[str, int]:
        """Weights of resources that the placement states."""
        if self.placement is None:
            return {}
        return {name: each.weight for name, each in self.placement.resources.items()}

    @property
    def mixed(self) -> bool:
        """Some resources are packed and others spread."""
        listed = self.placement.resources.values() if self.placement else ()
        return any(each.strategy != self.strategy for each in listed)

    @property
    def by_resource(self) -> bool:
        """The plugin needs a strategy for each resource."""
        return self.mixed or (self.strategy == SPREAD and self.placement is not None)

    @property
    def weighed(self) -> bool:
        """resource-strategy-fit is needed."""
        return self.by_resource or bool(self.avoid)


def scheduled_kinds(cluster: Cluster, target: TargetSettings) -> list[WorkloadKind]:
    """Kinds whose pods this target's scheduler may place, in the policy's order."""
    names = ("", target.scheduler_name or SCHEDULER_NAME)
    return [
        kind
        for kind in cluster.workloads.values()
        if kind.scheduler in names and (kind.scheduler or _placed_by(cluster, kind) in names)
    ]


def _placed_by(cluster: Cluster, kind: WorkloadKind) -> str:
    placement = cluster.placements.get(kind.placement_name)
    return placement.scheduler if placement else ""


def strategy(cluster: Cluster, kind: WorkloadKind) -> str:
    """binpack, spread or empty."""
    placement = cluster.placements.get(kind.placement_name)
    return placement.strategy if placement else kind.placement


def desired_placement(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> DesiredPlacement:
    """Spreading where every kind asks for it, else packing; of placements the first that does so."""
    spreading = bool(kinds) and all(strategy(cluster, kind) == SPREAD for kind in kinds)
    wanted = SPREAD if spreading else BINPACK
    named = [
        (kind, cluster.placements[kind.placement_name])
        for kind in kinds
        if kind.placement_name in cluster.placements
    ]
    chosen = next((placement for _, placement in named if placement.strategy == wanted), None)
    avoid = dict.fromkeys(resource for _, placement in named for resource in placement.avoid)
    others = [
        kind.name
        for kind, placement in named
        if placement.strategy == wanted and chosen and placement.resources != chosen.resources
    ]
    return DesiredPlacement(wanted, chosen, tuple(avoid), tuple(others))
