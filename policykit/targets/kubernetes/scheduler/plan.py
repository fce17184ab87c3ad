"""Which placements get a profile and its schedulerName, with notices about the others."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.placement import Placement
from policykit.model.pool import Pool
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.kubernetes import options, scheduler_names
from policykit.targets.kubernetes.options import SchedulerOptions
from policykit.targets.kubernetes.scheduler import messages, profiles
from policykit.targets.kubernetes.scheduler.configuration import DEFAULT_SCHEDULER, Profile
from policykit.targets.kubernetes.scheduler.profiles import PlacementProfile


class Plan(NamedTuple):
    """Profiles in the policy's order, and how they are deployed."""

    way: str
    """second or cluster."""
    placement_profiles: tuple[PlacementProfile, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def profiles(self) -> tuple[Profile, ...]:
        return tuple(each.profile for each in self.placement_profiles)

    @property
    def weights_default(self) -> bool:
        """Whether the weights of the default scheduler are computed here too."""
        return any(each.scheduler == DEFAULT_SCHEDULER and each.fit for each in self.profiles)


def plan(cluster: Cluster, stated: SchedulerOptions, version: Version) -> Plan:
    """The profiles of the placements; the cluster's own scheduler always has one for default-scheduler."""
    way, said = _way(cluster, stated)
    found: dict[str, PlacementProfile] = {}
    notices: list[str] = []
    for placement in cluster.placements.values():
        name, about = _name(cluster, placement, stated, way)
        notices += about
        if name and name not in found:
            found[name] = profiles.placement_profile(cluster, placement, name, version)
            notices += found[name].notices
        if placement.avoid and (name or scheduler_names.is_only_scheduler(cluster)):
            notices.append(messages.unsupported_avoid(placement, *_pools(cluster, placement)))
    if found and way == options.CLUSTER and DEFAULT_SCHEDULER not in found:
        found = {DEFAULT_SCHEDULER: PlacementProfile("", Profile()), **found}
    return Plan(way, tuple(found.values()), (*(said if found else ()), *notices))


def _way(cluster: Cluster, stated: SchedulerOptions) -> tuple[str, tuple[str, ...]]:
    """second or cluster, and a notice if it differs from the policy."""
    if stated.way == options.CLUSTER and cluster.provider:
        return options.SECOND, (messages.managed_control_plane(cluster.provider),)
    return stated.way, ()


def _name(
    cluster: Cluster, placement: Placement, stated: SchedulerOptions, way: str
) -> tuple[str, list[str]]:
    """The schedulerName of a placement's profile, empty if it gets none, and notices about it."""
    name = placement.scheduler or (DEFAULT_SCHEDULER if stated.default == placement.name else "")
    if not name:
        served = [
            kind
            for kind in cluster.workloads.values()
            if kind.placement_name == placement.name and kind.scheduler in scheduler_names.DEFAULT_NAMES
        ]
        return "", [
            messages.no_scheduler_name(placement.name)
        ] if served and scheduler_names.is_only_scheduler(cluster) else []
    if name in scheduler_names.other_names(cluster):
        return "", [messages.foreign_scheduler(name, placement.name)]
    if name == DEFAULT_SCHEDULER and way == options.SECOND:
        return "", [messages.default_elsewhere(placement.name)]
    return name, []


def _pools(cluster: Cluster, placement: Placement) -> tuple[list[str], list[str]]:
    """Pools with a card that the placement avoids: those with a taint, and those without."""
    offering = list(_offering(cluster, placement))
    tainted = [pool.name for pool in offering if pool.taints]
    return tainted, [pool.name for pool in offering if not pool.taints]


def _offering(cluster: Cluster, placement: Placement) -> Iterator[Pool]:
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        resources = pool.resources or ((card.resource,) if card else ())
        if any(resource in placement.avoid for resource in resources):
            yield pool
