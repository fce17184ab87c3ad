"""Which placements have a profile, by which name, and what is said of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.model.cluster import Cluster
from policykit.model.placement import Placement
from policykit.model.pool import Pool
from policykit.targets.kubernetes import names, options
from policykit.targets.kubernetes.options import Scheduler
from policykit.targets.kubernetes.scheduler import profiles, reasons
from policykit.targets.kubernetes.scheduler.configuration import DEFAULT_SCHEDULER, Profile
from policykit.targets.kubernetes.scheduler.profiles import Planned
from policykit.targets.release import Version


class Plan(NamedTuple):
    """Profiles in the policy's order, and how they come to run."""

    way: str
    """second or cluster."""
    planned: tuple[Planned, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def profiles(self) -> tuple[Profile, ...]:
        return tuple(each.profile for each in self.planned)

    @property
    def weighed(self) -> bool:
        """Whether the default scheduler's own weights are computed here too."""
        return any(each.scheduler == DEFAULT_SCHEDULER and each.fit for each in self.profiles)


def plan(cluster: Cluster, stated: Scheduler, version: Version) -> Plan:
    """Profiles of the placements; the cluster's own scheduler always keeps one for default-scheduler."""
    way, said = _way(cluster, stated)
    found: dict[str, Planned] = {}
    notices: list[str] = []
    for placement in cluster.placements.values():
        name, about = _name(cluster, placement, stated, way)
        notices += about
        if name and name not in found:
            found[name] = profiles.planned(cluster, placement, name, version)
            notices += found[name].notices
        if placement.avoid and (name or names.alone(cluster)):
            notices.append(reasons.avoided(placement, *_pools(cluster, placement)))
    if found and way == options.CLUSTER and DEFAULT_SCHEDULER not in found:
        found = {DEFAULT_SCHEDULER: Planned("", Profile()), **found}
    return Plan(way, tuple(found.values()), (*(said if found else ()), *notices))


def _way(cluster: Cluster, stated: Scheduler) -> tuple[str, tuple[str, ...]]:
    """second or cluster, and why if it is not what the policy says."""
    if stated.way == options.CLUSTER and cluster.provider:
        return options.SECOND, (reasons.managed(cluster.provider),)
    return stated.way, ()


def _name(cluster: Cluster, placement: Placement, stated: Scheduler, way: str) -> tuple[str, list[str]]:
    """schedulerName of its profile, empty for none; and what is to be said of that."""
    name = placement.scheduler or (DEFAULT_SCHEDULER if stated.default == placement.name else "")
    if not name:
        served = [
            kind
            for kind in cluster.workloads.values()
            if kind.placement_name == placement.name and kind.scheduler in names.OWN
        ]
        return "", [reasons.nameless(placement.name)] if served and names.alone(cluster) else []
    if name in names.taken(cluster):
        return "", [reasons.taken(name, placement.name)]
    if name == DEFAULT_SCHEDULER and way == options.SECOND:
        return "", [reasons.default_elsewhere(placement.name)]
    return name, []


def _pools(cluster: Cluster, placement: Placement) -> tuple[list[str], list[str]]:
    """Pools with a card to be avoided: those that repel pods, and those that do not."""
    offering = list(_offering(cluster, placement))
    tainted = [pool.name for pool in offering if pool.taints]
    return tainted, [pool.name for pool in offering if not pool.taints]


def _offering(cluster: Cluster, placement: Placement) -> Iterator[Pool]:
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        resources = pool.resources or ((card.resource,) if card else ())
        if any(resource in placement.avoid for resource in resources):
            yield pool
