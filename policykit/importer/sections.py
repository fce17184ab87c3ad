"""Sections of a policy: queues, tenants, quotas, workload kinds and targets as the policy file has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.draft import Draft
from policykit.model.gang import GangRule
from policykit.model.inventory import Inventory
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
from policykit.model.workload import (
    Autoscaling,
    Metric,
    Placement,
    ResourcePlacement,
    ScaleTarget,
    WorkloadKind,
)
from policykit.policy.models.targets import Targets
from policykit.targets import DEFAULT_TARGET, TARGETS
from policykit.targets.import_values import duration, quantities, without_empty

_SERVED = {
    target.name: min(target.schedulers, default="")
    for target in TARGETS
    if target.name in Targets.model_fields
}
"""Systems of a policy to the schedulerName that each serves by itself."""
_ORDER = ("version", "delivery", "namespace", "schedulerName", "fit")


def add_targets(draft: Draft, inventory: Inventory) -> None:
    """Writes `placements`, `queues`, `tenants` and so on, `schedulers` and `targets`."""
    sections: dict[str, dict[str, Any]] = {
        "placements": {name: placement(each) for name, each in inventory.placements.items()},
        "queues": {name: queue(each) for name, each in inventory.queues.items()},
        "tenants": {name: tenant(each) for name, each in inventory.tenants.items()},
        "priorities": {name: priority(each) for name, each in inventory.priorities.items()},
        "preemption": preemption(inventory.preemption),
        "quotas": {name: quota(each) for name, each in inventory.quotas.items()},
        "reservations": {name: reservation(each) for name, each in inventory.reservations.items()},
    }
    draft.data.update({name: section for name, section in sections.items() if section})
    for name in ("workloads", *sections):
        # Placements come before the workload kinds that name them, and those before the other sections.
        if name in draft.data and name != "placements":
            draft.data[name] = draft.data.pop(name)
    targets = [name for name in _SERVED if inventory.targets.get(name) or _is_used(inventory, name)]
    if targets:
        draft.data["targets"] = {name: _target_name(name, inventory.targets[name]) for name in targets}
    served = {inventory.targets[name].get("schedulerName", _SERVED[name]) for name in targets}
    served |= {each.scheduler for each in inventory.placements.values()}
    others = [name for name in inventory.schedulers if name not in served]
    if others:
        draft.data["schedulers"] = others


def _is_used(inventory: Inventory, name: str) -> bool:
    """Whether files mention a system; Kubernetes is always one."""
    return name in inventory.targets and name != DEFAULT_TARGET


def _target_name(name: str, says: Mapping[str, Any]) -> dict[str, Any]:
    keys = [key for key in _ORDER if key in says]
    target = {key: says[key] for key in (*keys, *(key for key in says if key not in keys))}
    if target.get("schedulerName") == _SERVED[name]:
        del target["schedulerName"]
    return target


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
        guarantee=quantities(found.guarantee),
        deserved=quantities(found.deserved),
        limit=quantities(found.limit),
        priority=found.priority,
        reclaimable=None if found.reclaimable else False,
        protect=found.protected or None,
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
        requests=quantities(found.requests),
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
        requests=quantities(found.requests),
        limits=quantities(found.limits),
        pods=found.pods,
        priorities=found.priorities,
    )
    return data if found.containers is None else {**data, "containers": _containers(found.containers)}


def _containers(found: ContainerRange) -> dict[str, Any]:
    return without_empty(
        default=quantities(found.default),
        defaultRequest=quantities(found.default_request),
        min=quantities(found.minimum),
        max=quantities(found.maximum),
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
