"""Sections of a policy: queues, tenants, quotas and workload kinds as the policy file has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.gang import GangRule
from policykit.model.placement import Placement, ResourcePlacement
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import (
    ContainerRange,
    PoolAffinity,
    Preemption,
    Priority,
    Queue,
    Quota,
    Reservation,
    Submitters,
    Tenant,
)
from policykit.model.topology import TopologyAffinity, TopologySpread
from policykit.model.workload import Autoscaling, Metric, ScaleTarget, WorkloadKind

_DECIMAL = (("G", 10**9), ("M", 10**6), ("k", 10**3))
_BYTES = frozenset({"memory", "ephemeral-storage"})
_UNITS = (("h", 3600), ("m", 60), ("s", 1))


def placement(found: Placement) -> dict[str, Any]:
    """A placement. A resource with the placement's strategy is written as its weight."""
    return without_empty(
        strategy=found.strategy,
        resources={name: _resource(found, each) for name, each in found.resources.items()},
        shape=[point._asdict() for point in found.shape],
        avoid=found.avoid,
        scheduler=found.scheduler,
    )


def _resource(found: Placement, each: ResourcePlacement) -> int | dict[str, Any]:
    if each.strategy == found.strategy:
        return each.weight
    return without_empty(strategy=each.strategy, weight=each.weight if each.weight != 1 else None)


def queue(found: Queue) -> dict[str, Any]:
    """A queue, with keys in the order of the policy format."""
    return without_empty(
        parent=found.parent,
        weight=found.weight if found.weight != 1 else None,
        guarantee=amounts(found.guarantee),
        deserved=amounts(found.deserved),
        limit=amounts(found.limit),
        priority=found.priority,
        reclaimable=None if found.reclaimable else False,
    ) | _access(found.submit, found.pools)


def preemption(found: Preemption) -> dict[str, Any]:
    """Preemption settings; empty: none."""
    return without_empty(withinQueue=found.within_queue, reclaim=found.reclaim)


def _access(submit: Submitters | None, pools: PoolAffinity | None) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if submit is not None:
        data["submit"] = without_empty(**submit._asdict())
    if pools is not None:
        only_required = pools == PoolAffinity(pools.required)
        data["pools"] = list(pools.required) if only_required else without_empty(**pools._asdict())
    return data


def tenant(found: Tenant) -> dict[str, Any]:
    """A tenant: its namespaces, queue and people."""
    return without_empty(
        namespaces=found.namespaces, queue=found.queue, users=found.users, groups=found.groups
    )


def reservation(found: Reservation) -> dict[str, Any]:
    """A reservation."""
    return without_empty(
        tenant=found.tenant,
        workload=found.workload,
        pool=found.pool,
        requests=amounts(found.requests),
        pods=found.pods if found.pods != 1 else None,
        ttl=duration(found.ttl),
    )


def priority(found: Priority) -> dict[str, Any]:
    """A PriorityClass. Its value is written even if it is 0."""
    return without_empty(
        value=found.value,
        preempts=None if found.preempts else False,
        default=True if found.default else None,
        description=found.description,
    )


def quota(found: Quota) -> dict[str, Any]:
    """A ResourceQuota with the LimitRange of the same name."""
    data = without_empty(
        namespace=found.namespace if found.namespace != found.name else "",
        requests=amounts(found.requests),
        limits=amounts(found.limits),
        pods=found.pods,
        priorities=found.priorities,
    )
    return data if found.containers is None else {**data, "containers": _containers(found.containers)}


def _containers(found: ContainerRange) -> dict[str, Any]:
    return without_empty(
        default=amounts(found.default),
        defaultRequest=amounts(found.default_request),
        min=amounts(found.minimum),
        max=amounts(found.maximum),
    )


def kind(found: WorkloadKind, placements: Mapping[str, Placement]) -> dict[str, Any]:
    """Fields of a kind other than where it may run, with keys in the order of the policy format."""
    named = placements.get(found.placement_name)
    follows = named is not None and found.scheduler == named.scheduler
    return without_empty(
        scheduler="" if follows else found.scheduler,
        gang=_gang(found.gang, found.gang_rule),
        within=_within(found.within),
        across=_across(found.across),
        placement=found.placement_name or found.placement,
        priorityClass=found.priority_class,
        queue=found.queue,
        namespaces=found.namespaces,
        autoscaling=_autoscaling(found.autoscaling),
    )


def _gang(gang: str, rule: GangRule | None) -> str | dict[str, Any]:
    if rule is None or rule == GangRule():
        return gang
    return without_empty(
        size=rule.size,
        timeout=duration(rule.timeout) if rule.timeout else None,
        onTimeout=rule.on_timeout,
    )


def _within(found: TopologyAffinity | None) -> dict[str, Any] | None:
    return without_empty(level=found.level, mode="hard" if found.hard else "") if found else None


def _across(found: TopologySpread | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return without_empty(
        level=found.level,
        mode="hard" if found.hard else "",
        skew=found.skew if found.skew != 1 else None,
    )


def _autoscaling(found: Autoscaling | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return without_empty(
        min=found.minimum if found.minimum != 1 else None,
        max=found.maximum,
        metrics=[_metric(each) for each in found.metrics],
        targets=[_target(each) for each in found.targets],
        cooldown=duration(found.cooldown) if found.cooldown else None,
    )


def _metric(found: Metric) -> dict[str, Any]:
    return without_empty(**{found.source: found.name}, utilization=found.utilization, average=found.average)


def _target(found: ScaleTarget) -> dict[str, Any]:
    return without_empty(
        kind=found.kind,
        apiVersion=found.api_version if found.api_version != "apps/v1" else "",
        name=found.name,
        namespace=found.namespace,
    )


def without_empty(**parts: Any) -> dict[str, Any]:
    """The parts that are neither empty nor None. A trailing underscore is not part of the key."""
    kept = {key.rstrip("_"): value for key, value in parts.items()}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in kept.items()
        if value is not None and value != "" and value != {} and value != () and value != []
    }


def amounts(counted: Amounts) -> dict[str, str | int]:
    """Resource to quantity: 180 cores, 1900Gi, 2200M; numbers without a suffix stay numbers."""
    found: dict[str, str | int] = {}
    for resource, number in counted.items():
        text = _quantity(resource, number)
        found[resource] = int(text) if text.isdecimal() else text
    return found


def _quantity(resource: str, number: int) -> str:
    """The shorter of the binary and the decimal form."""
    binary = amount_text(resource, number)
    if resource not in _BYTES:
        return binary
    decimal = [f"{number // unit}{suffix}" for suffix, unit in _DECIMAL if number and not number % unit]
    return min([binary, *decimal], key=len)


def duration(seconds: int) -> str:
    """86400 seconds are 24h, 5400 are 1h30m."""
    parts = []
    for unit, size in _UNITS:
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return "".join(parts)
