"""Workload kinds, with their placements, gangs and autoscaling."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from policykit.kube.names import (
    dns_label_problem,
    dns_subdomain_problem,
    is_extended,
    label_key_problem,
    label_value_problem,
)
from policykit.manifests.path import Path
from policykit.model.gang import GangRule
from policykit.model.shared_cards import HAMI, HAMI_SCHEDULER
from policykit.model.topology import LEVELS, TopologyAffinity, TopologySpread
from policykit.model.workload import (
    BINPACK,
    SPREAD,
    Autoscaling,
    Match,
    Metric,
    Placement,
    Point,
    ResourcePlacement,
    ScaleTarget,
    WorkloadKind,
)
from policykit.policy.compile.amounts import resource_of
from policykit.policy.compile.draft import Draft, check_unique, unique
from policykit.policy.compile.topology import level_key
from policykit.policy.models import workload as written
from policykit.policy.models.workload import Workload
from policykit.policy.problems import did_you_mean, nearest
from policykit.targets import TARGETS

BUILT_IN = (BINPACK, SPREAD)


def compile_placements(draft: Draft) -> dict[str, Placement]:
    """The policy's placements by name, in its order."""
    found = {name: _placement(draft, name, stated) for name, stated in draft.policy.placements.items()}
    homes: dict[str, str] = {}
    for name, placement in found.items():
        home = homes.setdefault(placement.scheduler, name) if placement.scheduler else name
        if home != name:
            message = f"placements {home} and {name} both use scheduler {placement.scheduler}"
            hint = "give each its own schedulerName: a profile has one strategy"
            draft.problems.error(("placements", name, "scheduler"), message, hint)
    return found


def named_placement(draft: Draft, path: Path, name: str) -> tuple[str, str]:
    """Strategy of a placement that a workload kind names, and its name if the policy defines it."""
    stated = draft.policy.placements.get(name)
    if stated is not None:
        return stated.strategy or "", name
    if name and name not in BUILT_IN and name not in draft.names("placements"):
        if not draft.problems.broken(("placements",)):
            hint = did_you_mean(name, (*draft.names("placements"), *BUILT_IN))
            draft.problems.error(path, f"unknown placement {name!r}", hint)
        return "", ""
    return name if name in BUILT_IN else "", ""


def _placement(draft: Draft, name: str, stated: written.Placement) -> Placement:
    path: Path = ("placements", name)
    draft.check(path, f"placement name {name!r}", label_value_problem(name), key=True)
    if stated.strategy is None:
        message, hint = f"placement {name!r} has no strategy", "add strategy: binpack or spread"
        draft.problems.error(path, message, hint, key=True)
    if stated.scheduler:
        problem = dns_subdomain_problem(stated.scheduler)
        draft.check((*path, "scheduler"), f"scheduler {stated.scheduler!r}", problem)
    strategy = stated.strategy or BINPACK
    return Placement(
        name,
        strategy,
        _resources(draft, (*path, "resources"), strategy, stated),
        _shape(draft, (*path, "shape"), strategy, stated.shape),
        _avoid(draft, (*path, "avoid"), stated.avoid),
        stated.scheduler,
    )


def _resources(
    draft: Draft, path: Path, strategy: str, stated: written.Placement
) -> dict[str, ResourcePlacement]:
    found: dict[str, ResourcePlacement] = {}
    for name, each in stated.resources.items():
        resource = resource_of(draft, (*path, name), name)
        if resource in found:
            message = f"placement {path[1]} lists {resource} twice"
            draft.problems.error((*path, name), message, "keep one of them", key=True)
        elif resource and isinstance(each, int):
            found[resource] = ResourcePlacement(strategy, each)
        elif resource and not isinstance(each, int):
            found[resource] = ResourcePlacement(each.strategy or strategy, each.weight)
    return found


def _shape(draft: Draft, path: Path, strategy: str, stated: tuple[written.Point, ...]) -> tuple[Point, ...]:
    points: list[Point] = []
    for number, point in enumerate(stated):
        place = (*path, number)
        if point.utilization is None or point.score is None:
            lacking = "utilization" if point.utilization is None else "score"
            message = f"this point of the shape has no {lacking}"
            draft.problems.error(place, message, "use {utilization: 50, score: 5}")
            continue
        if points and point.utilization <= points[-1].utilization:
            message = (
                f"shape points must have increasing utilization: {point.utilization} follows "
                f"{points[-1].utilization}"
            )
            draft.problems.error(
                (*place, "utilization"), message, "sort the points by utilization, without duplicates"
            )
        points.append(Point(point.utilization, point.score))
    _check_direction(draft, path, strategy, points)
    return tuple(points)


def _check_direction(draft: Draft, path: Path, strategy: str, points: list[Point]) -> None:
    """Reports a shape that contradicts its strategy: rising scores pack, falling scores spread."""
    steps = [after.score - before.score for before, after in pairwise(points)]
    other = ""
    if strategy == SPREAD and any(steps) and all(step >= 0 for step in steps):
        other = f"prefers fuller nodes, which is {BINPACK}"
    if strategy == BINPACK and any(steps) and all(step <= 0 for step in steps):
        other = f"prefers emptier nodes, which is {SPREAD}"
    if other:
        message = f"the strategy is {strategy}, but the shape {other}"
        draft.problems.error(path, message, "change the strategy or the scores", key=True)


def _avoid(draft: Draft, path: Path, stated: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for number, name in enumerate(stated):
        resource = resource_of(draft, (*path, number), name)
        if resource and not is_extended(resource):
            message = f"every node has {resource}, so pods cannot avoid it"
            draft.problems.error((*path, number), message, "list cards or other extended resources")
        elif resource:
            found.append(resource)
    check_unique(draft, path, stated)
    return unique(found)


_ORDER = (*LEVELS, "node")
_APPS = frozenset({"Deployment", "StatefulSet", "ReplicaSet"})
_ROLES = {"training": "training", "inference": "serving"}
"""The usages that say what runs on their pools; of any other the policy states the role."""
_NO_ROLE = "hybrid"
_WITHOUT_SCALE = frozenset({"DaemonSet", "Job", "CronJob", "Pod"})


def compile_workloads(draft: Draft) -> dict[str, WorkloadKind]:
    """All workload kinds in the policy's order, which `match` follows."""
    _check_scale_targets(draft)
    return {name: _workload(draft, name, stated) for name, stated in draft.policy.workloads.items()}


def _workload(draft: Draft, name: str, stated: written.Workload) -> WorkloadKind:
    path: Path = ("workloads", name)
    draft.check(path, f"workload kind name {name!r}", label_value_problem(name), key=True)
    for number, namespace in enumerate(stated.namespaces):
        draft.check((*path, "namespaces", number), f"namespace {namespace!r}", dns_label_problem(namespace))
    _check_scheduler(draft, path, stated.scheduler)
    strategy, placement = named_placement(draft, (*path, "placement"), stated.placement)
    return WorkloadKind(
        name,
        unique(stated.usages),
        dict(stated.prefer),
        () if stated.cards == "none" else unique(stated.cards) if stated.cards is not None else None,
        stated.scheduler or (draft.policy.placements[placement].scheduler if placement else ""),
        stated.gang if isinstance(stated.gang, str) else "all" if stated.gang is not None else "",
        strategy,
        stated.priority_class,
        stated.queue,
        unique(stated.namespaces),
        unique(stated.helpers) if stated.helpers is not None else None,
        _matches(draft, path, stated.match),
        stated.role or _role(stated.prefer) or _role(stated.usages),
        placement,
        _gang_rule(stated),
        _within(draft, path, stated.within),
        _across(draft, path, stated),
        _autoscaling(draft, (*path, "autoscaling"), stated.autoscaling),
    )


def _role(usages: Iterable[str]) -> str:
    """The role that usages say; empty: none, or more than one."""
    words = {*usages} - {_NO_ROLE}
    return _ROLES.get(words.pop(), "") if len(words) == 1 else ""


def _check_scheduler(draft: Draft, path: Path, scheduler: str) -> None:
    """Notices an unserved schedulerName that resembles a served one: probably a typing error."""
    served = {name for target in TARGETS if target.generate for name in target.schedulers}
    served.update(draft.policy.schedulers)
    served |= {HAMI_SCHEDULER for pool in draft.policy.pools.values() if pool.sharing.mode == HAMI}
    served |= {placement.scheduler for placement in draft.policy.placements.values()} - {""}
    targets = draft.policy.targets
    if targets is not None:
        served.update(getattr(stated, "scheduler_name", "") for _, stated in targets if stated)
    near = nearest(scheduler, served) if scheduler and scheduler not in served else ""
    if near:
        hint = f"did you mean {near}? If not, add {scheduler} to schedulers"
        draft.problems.notice((*path, "scheduler"), f"no target serves schedulerName {scheduler!r}", hint)


def _matches(
    draft: Draft, path: Path, stated: written.Match | tuple[written.Match, ...]
) -> tuple[Match, ...]:
    if isinstance(stated, tuple):
        return tuple(_match(draft, (*path, "match", number), each) for number, each in enumerate(stated))
    return (_match(draft, (*path, "match"), stated),)


def _match(draft: Draft, path: Path, stated: written.Match) -> Match:
    if not (stated.kinds or stated.namespaces or stated.labels or stated.names):
        draft.problems.error(path, "an empty match matches nothing", "add kinds, labels or names", key=True)
    for key, value in stated.labels.items():
        draft.check((*path, "labels", key), f"label key {key!r}", label_key_problem(key), key=True)
        draft.check((*path, "labels", key), f"label {key}: value {value!r}", label_value_problem(value))
    return Match(stated.kinds, stated.namespaces, dict(stated.labels), stated.names)


def _gang_rule(stated: Workload) -> GangRule | None:
    """Gang settings beyond `all`; None if there are none."""
    gang = stated.gang
    if gang is None or isinstance(gang, str):
        return None
    rule = GangRule(gang.size, gang.timeout, gang.on_timeout or "")
    return rule if rule != GangRule() else None


def _within(draft: Draft, path: Path, stated: written.Within | None) -> TopologyAffinity | None:
    """How close together the pods of a job are placed."""
    if stated is None or not _level(draft, (*path, "within"), stated.level):
        return None
    return TopologyAffinity(str(stated.level), stated.mode == "hard")


def _across(draft: Draft, path: Path, stated: Workload) -> TopologySpread | None:
    """Over what the pods of a workload are spread."""
    wanted, close = stated.across, stated.within
    if wanted is None or not _level(draft, (*path, "across"), wanted.level):
        return None
    if close is not None and close.level and _ORDER.index(str(wanted.level)) <= _ORDER.index(close.level):
        message = f"pods kept within one {close.level} are all in one {wanted.level}: nothing to spread over"
        draft.problems.error((*path, "across", "level"), message, f"use a level below {close.level}")
    return TopologySpread(str(wanted.level), wanted.mode == "hard", wanted.skew)


def _level(draft: Draft, path: Path, level: str | None) -> bool:
    if not level:
        message = f"workload kind {path[1]}: {path[-1]} has no level"
        draft.problems.error(path, message, "add level: rack", key=True)
    elif level != "node":
        level_key(draft, (*path, "level"), level)
    return bool(level)


def _autoscaling(draft: Draft, path: Path, stated: written.Autoscaling | None) -> Autoscaling | None:
    """Bounds and metrics; None if the policy sets none."""
    if stated is None:
        return None
    if stated.max is None:
        draft.problems.error(
            path, f"autoscaling of workload kind {path[1]} has no max", "add max: 8", key=True
        )
    elif stated.min > stated.max:
        message = f"min {stated.min} is greater than max {stated.max}"
        draft.problems.error((*path, "min"), message, "lower min or raise max")
    metrics = [_metric(draft, (*path, "metrics", n), each) for n, each in enumerate(stated.metrics)]
    if stated.min == 0 and not any(each.external for each in stated.metrics):
        message = "min 0 needs an external metric: with no pods there are no pod metrics"
        draft.problems.error((*path, "min"), message, "set min: 1, or add an external metric")
    targets = [_scale_target(draft, (*path, "targets", n), each) for n, each in enumerate(stated.targets)]
    return Autoscaling(stated.max or 1, stated.min, tuple(metrics), tuple(targets), stated.cooldown)


def _check_scale_targets(draft: Draft) -> None:
    """Reports workloads with more than one autoscaler, which would undo each other's work."""
    homes: dict[tuple[str, str, str], str] = {}
    for name, kind in draft.policy.workloads.items():
        for number, each in enumerate(kind.autoscaling.targets if kind.autoscaling else ()):
            identity = (each.kind, each.namespace, each.name)
            home = homes.setdefault(identity, name)
            if home != name or identity in [
                (t.kind, t.namespace, t.name) for t in _scale_targets(kind)[:number]
            ]:
                path = ("workloads", name, "autoscaling", "targets", number)
                message = f"{each.kind} {each.name} is already scaled by workload kind {home}"
                draft.problems.error(path, message, "list it once")


def _scale_targets(kind: Workload) -> tuple[written.ScaleTarget, ...]:
    return kind.autoscaling.targets if kind.autoscaling else ()


def _metric(draft: Draft, path: Path, stated: written.Metric) -> Metric:
    sources = {"resource": stated.resource or "", "pods": stated.pods, "external": stated.external}
    named = [source for source, name in sources.items() if name]
    if len(named) != 1:
        given = f"this one has {' and '.join(named)}" if named else "this one has none"
        message = f"a metric needs exactly one of resource, pods and external; {given}"
        draft.problems.error(path, message, "use {resource: cpu, utilization: 70}")
    source = named[0] if named else "resource"
    if named:
        _check_value(draft, path, source, stated)
    return Metric(source, sources[source], stated.utilization, stated.average or "")


def _check_value(draft: Draft, path: Path, source: str, stated: written.Metric) -> None:
    if stated.utilization is not None and source != "resource":
        message = "utilization is a percentage of requests and applies only to cpu and memory"
        draft.problems.error((*path, "utilization"), message, 'use average: "5"', key=True)
    elif stated.utilization is None and stated.average is None:
        hint = "add utilization: 70" if source == "resource" else 'add average: "5"'
        draft.problems.error(path, "this metric has no target value", hint)
    elif stated.utilization is not None and stated.average is not None:
        message = "a metric has either a utilization or an average, not both"
        draft.problems.error((*path, "average"), message, "remove one of them", key=True)


def _scale_target(draft: Draft, path: Path, stated: written.ScaleTarget) -> ScaleTarget:
    if not stated.name:
        draft.problems.error(path, "this target has no name", "add name")
    else:
        draft.check((*path, "name"), f"name {stated.name!r}", dns_subdomain_problem(stated.name))
    if stated.namespace:
        problem = dns_label_problem(stated.namespace)
        draft.check((*path, "namespace"), f"namespace {stated.namespace!r}", problem)
    if stated.kind in _WITHOUT_SCALE:
        message = f"a {stated.kind} cannot be scaled"
        draft.problems.error((*path, "kind"), message, "use a Deployment or StatefulSet")
    elif stated.api_version == "apps/v1" and stated.kind not in _APPS:
        message = f"apps/v1 has no kind {stated.kind!r} with replicas"
        draft.problems.error((*path, "kind"), message, "add its apiVersion: group/v1")
    return ScaleTarget(stated.kind, stated.name, stated.namespace, stated.api_version)
