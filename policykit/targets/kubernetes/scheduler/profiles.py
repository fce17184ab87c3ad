"""A kube-scheduler profile for each placement that gets one, with notices about the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.release import Version
from policykit.model.workload import BINPACK, SPREAD, Placement, Point, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets import pool_capacity
from policykit.targets.kubernetes import options
from policykit.targets.kubernetes.options import SchedulerOptions
from policykit.targets.kubernetes.scheduler import messages, plugins, profiles, weights
from policykit.targets.kubernetes.scheduler.configuration import DEFAULT_SCHEDULER, RATIO, Fit, Profile
from policykit.targets.kubernetes.scheduler.plugins import preference_gap

_STRATEGIES = {BINPACK: "MostAllocated", SPREAD: "LeastAllocated"}
_PLAIN = ("cpu", "memory")


class PlacementProfile(NamedTuple):
    """The profile of one placement."""

    placement: str
    profile: Profile
    comments: tuple[str, ...] = ()
    """The inequalities with their numbers."""
    notices: tuple[str, ...] = ()


class _ScoredResources(NamedTuple):
    """Resources that the strategy scores."""

    strategy: str
    cards: Mapping[str, int]
    """Card resource to weight."""
    others: Mapping[str, int]
    shape: tuple[Point, ...]
    stated: bool
    """The policy lists resources, so none are left out in favour of cards."""


_Sizes = Mapping[str, Sequence[int]]
"""Card resource to its numbers per node; 0: unknown."""


def placement_profile(
    cluster: Cluster, placement: Placement, scheduler: str, version: Version
) -> PlacementProfile:
    """The profile that places pods of `scheduler` by the placement."""
    kinds = kinds_of(cluster, placement, scheduler)
    sizes = pool_capacity.cards_per_node(cluster, _pools(cluster, kinds))
    asked, notices = _scored_resources(placement, sizes)
    fit, leads = _fit(asked, sizes)
    against = plugins.rivals(version)
    rivals = sum(against.values())
    weight = weights.fit_weight(leads.values(), rivals)
    affinity, reason = _affinity(cluster, kinds, weight, rivals)
    scores = {plugins.FIT: weight, **({plugins.AFFINITY: affinity} if affinity else {})}
    sampled = 100 if pool_capacity.node_total(cluster) > pool_capacity.SCORED_NODES else None
    comments = (
        messages.opening(scheduler, placement.name),
        *(
            messages.leading(r, pool_capacity.assumed(sizes[r]), least, weight, against)
            for r, least in leads.items()
        ),
        *_scope_comments(asked, fit, weight, against),
        *([reason] if reason else []),
        messages.opt_in_plugins(plugins.opt_in(version)),
        *([messages.ALL_NODES] if sampled else []),
    )
    notice = (
        *notices,
        *_weak_points(placement, sizes, leads, fit),
        *_kinds(cluster, placement, kinds, scheduler),
    )
    return PlacementProfile(
        placement.name, Profile(scheduler, fit, scores, percentage=sampled), comments, notice
    )


def _scope_comments(
    asked: _ScoredResources, fit: Fit, weight: int, against: Mapping[str, int]
) -> tuple[str, ...]:
    if not asked.cards:
        return (messages.no_card_scored(weight, against),)
    return (messages.CARDS_ALONE,) if len(fit.resources) == len(asked.cards) else ()


def kinds_of(cluster: Cluster, placement: Placement, scheduler: str) -> list[WorkloadKind]:
    """Workload kinds with this placement and schedulerName, in the policy's order."""
    names = ("", DEFAULT_SCHEDULER) if scheduler == DEFAULT_SCHEDULER else (scheduler,)
    return [
        kind
        for kind in cluster.workloads.values()
        if kind.scheduler in names and kind.placement_name in ("", placement.name)
    ]


def _scored_resources(placement: Placement, sizes: _Sizes) -> tuple[_ScoredResources, list[str]]:
    """The resources to score, all in one direction, since a strategy has only one."""
    wanted = {name: (each.strategy, each.weight) for name, each in placement.resources.items()}
    for resource in sizes:
        wanted.setdefault(resource, (placement.strategy, weights.CARD_WEIGHT))
    if not placement.resources and (not placement.shape or not sizes):
        wanted |= dict.fromkeys(_PLAIN, (placement.strategy, 1))
    main = _direction(placement, wanted, sizes)
    shape = placement.shape if main == placement.strategy else ()
    left = sorted(name for name, (strategy, _) in wanted.items() if strategy != main)
    chosen = {name: weight for name, (strategy, weight) in sorted(wanted.items()) if strategy == main}
    found = _ScoredResources(
        RATIO if shape else _STRATEGIES[main],
        {name: weight for name, weight in chosen.items() if name in sizes},
        {name: weight for name, weight in chosen.items() if name not in sizes},
        shape,
        bool(placement.resources),
    )
    unshaped = [messages.without_shape(placement, main)] if placement.shape and not shape else []
    return found, [messages.one_direction(placement, main, left)] if left else unshaped


def _direction(placement: Placement, wanted: Mapping[str, tuple[str, int]], sizes: _Sizes) -> str:
    """The direction of the shape if there is one, else of the cards; if those differ, of the heavier ones."""
    usual = placement.strategy
    if placement.shape and any(strategy == usual for strategy, _ in wanted.values()):
        return usual
    total = {BINPACK: 0, SPREAD: 0}
    judged = {name: each for name, each in wanted.items() if name in sizes} or wanted
    for strategy, weight in judged.values():
        total[strategy] += weight
    return usual if total[BINPACK] == total[SPREAD] else max(total, key=lambda each: total[each])


def _fit(asked: _ScoredResources, sizes: _Sizes) -> tuple[Fit, dict[str, int]]:
    """The strategy, and each card's lead. cpu and memory are left out if they could outweigh a card."""
    leads = _leads(asked, sizes, sum(asked.others.values()))
    others = asked.others
    if asked.cards and not asked.stated and min(leads.values()) <= 0:
        leads, others = _leads(asked, sizes, 0), {}
    return Fit(asked.strategy, {**asked.cards, **others}, asked.shape), leads


def _leads(asked: _ScoredResources, sizes: _Sizes, fill: int) -> dict[str, int]:
    return {
        resource: min(
            weights.lead(asked.strategy, asked.shape, size, weight, fill)
            for size in pool_capacity.assumed(sizes[resource])
        )
        for resource, weight in asked.cards.items()
    }


def _pools(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> Sequence[Pool]:
    """Pools that one of the kinds may use; without kinds, all pools."""
    return [pool for pool in cluster.pools if not kinds or any(_uses(kind, pool) for kind in kinds)]


def _uses(kind: WorkloadKind, pool: Pool) -> bool:
    usage = not kind.usages or pool.usage in kind.usages
    return usage and (kind.cards is None or pool.card in kind.cards)


def _affinity(
    cluster: Cluster, kinds: Sequence[WorkloadKind], fit: int, rivals: int
) -> tuple[int | None, str]:
    """Weight of NodeAffinity and the reason; None: no kind prefers a usage."""
    gaps = [gap for kind in kinds if (gap := preference_gap(cluster, kind))]
    if not gaps or not cluster.usage_key:
        return None, ""
    weight = weights.affinity_weight(min(gaps), fit, rivals)
    return weight, messages.preferring(weight, min(gaps), fit, rivals)


def _weak_points(placement: Placement, sizes: _Sizes, leads: Mapping[str, int], fit: Fit) -> list[str]:
    """Notices about guarantees that the weights cannot give."""
    found = []
    for resource, least in leads.items():
        known = pool_capacity.assumed(sizes[resource])
        if 0 in sizes[resource]:
            found.append(messages.unknown_size(placement, resource))
        if len(known) > 1:
            found.append(messages.mixed_sizes(placement, resource, known))
        if least <= 0:
            found.append(messages.too_light(placement, resource, known[-1], fit, alone=fit.resources.keys()))
    if not leads and placement.resources:
        found.append(messages.no_cards(placement))
    return found


def _kinds(
    cluster: Cluster, placement: Placement, kinds: Sequence[WorkloadKind], scheduler: str
) -> list[str]:
    elsewhere = [
        kind
        for kind in cluster.workloads.values()
        if kind.placement_name == placement.name and placement.scheduler == scheduler != kind.scheduler
    ]
    found = [messages.unused_profile(placement, elsewhere)] if not kinds else []
    soft = [kind.name for kind in kinds if kind.across and not kind.across.hard]
    return [*found, messages.outweighed_spread(placement, soft)] if soft else found


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
    way, unsupported = _way(cluster, stated)
    found: dict[str, PlacementProfile] = {}
    notices: list[str] = []
    for placement in cluster.placements.values():
        name, about = _name(cluster, placement, stated, way)
        notices += about
        if name and name not in found:
            found[name] = profiles.placement_profile(cluster, placement, name, version)
            notices += found[name].notices
        if placement.avoid and (name or options.is_only_scheduler(cluster)):
            notices.append(messages.unsupported_avoid(placement, *_pool_names(cluster, placement)))
    if found and way == options.CLUSTER and DEFAULT_SCHEDULER not in found:
        found = {DEFAULT_SCHEDULER: PlacementProfile("", Profile()), **found}
    return Plan(way, tuple(found.values()), (*(unsupported if found else ()), *notices))


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
            if kind.placement_name == placement.name and kind.scheduler in options.DEFAULT_NAMES
        ]
        return "", [messages.no_scheduler_name(placement.name)] if served and options.is_only_scheduler(
            cluster
        ) else []
    if name in options.other_names(cluster):
        return "", [messages.foreign_scheduler(name, placement.name)]
    if name == DEFAULT_SCHEDULER and way == options.SECOND:
        return "", [messages.default_elsewhere(placement.name)]
    return name, []


def _pool_names(cluster: Cluster, placement: Placement) -> tuple[list[str], list[str]]:
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
