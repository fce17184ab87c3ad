"""Built-in objects: PriorityClasses, ResourceQuotas, LimitRanges, HorizontalPodAutoscalers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.inventory import Inventory
from policykit.importer.objects.kube_scheduler import scheduler_configuration, second_scheduler
from policykit.model.queue import ContainerRange, Quota
from policykit.model.workload import Autoscaling, WorkloadKind
from policykit.targets.kubernetes import autoscalers, limit_ranges, priorities, quotas
from policykit.targets.kubernetes.autoscalers import Autoscaler

__all__ = [
    "autoscaler",
    "limit_range",
    "priority_class",
    "resource_quota",
    "scheduler_configuration",
    "second_scheduler",
]

_KOORDINATOR_CLASSES = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"})
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})


def priority_class(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A PriorityClass, unless it is built in or from Koordinator's chart."""
    priority, value = priorities.read(data), data.get("value")
    if priority.name.startswith("system-") or priority.name in _KOORDINATOR_CLASSES:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        inventory.say(f"PriorityClass {priority.name} has no value; left out")
        return
    inventory.add_priority(priority)


def resource_quota(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A ResourceQuota: requests, limits and number of pods, for all or some priorities."""
    quota = quotas.read(data)
    namespace = quota.namespace or "default"
    where = f"ResourceQuota {namespace}/{quota.name}"
    if "scopes" in quota.unsaid or "scopeSelector" in quota.unsaid:
        inventory.say(f"{where} has scopes other than PriorityClass, which a policy cannot express; left out")
        return
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    unsaid = [name.removeprefix("hard.") for name in quota.unsaid]
    for key, counted in quota.hard.items():
        kind, _, resource = key.partition(".")
        if key in _PLAIN:
            kind, resource = "requests", key
        if kind == "requests" and _countable(resource):
            requests[resource] = counted
        elif kind == "limits" and resource in _PLAIN:
            limits[resource] = counted
        elif key != "pods":
            unsaid.append(key)
    if unsaid:
        inventory.say(f"{where}: a policy has no field for {', '.join(sorted(unsaid))}; left out")
    pods = quota.hard.get("pods")
    if requests or limits or pods is not None or not quota.hard:
        _add(Quota(namespace, quota.name, requests, limits, pods, quota.priorities), inventory)


def limit_range(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A LimitRange of containers: part of the quota with its name, or a new quota."""
    limits = limit_ranges.read(data)
    namespace = limits.namespace or "default"
    where = f"LimitRange {namespace}/{limits.name}"
    if limits.unsaid:
        inventory.say(f"{where}: a policy has no field for {', '.join(limits.unsaid)}; left out")
    if limits.containers == ContainerRange():
        return
    home = next((q for q in inventory.quotas.values() if q.namespace == namespace and q.containers), None)
    if home is not None and home.name != limits.name:
        inventory.say(
            f"{where}: {home.name} already sets defaults and bounds for containers in {namespace}; left out"
        )
        return
    _add(Quota(namespace, limits.name, containers=limits.containers), inventory)


def autoscaler(data: Mapping[str, Any], inventory: Inventory) -> None:
    """A HorizontalPodAutoscaler: part of the workload kind named by its label."""
    scaler = autoscalers.read(data)
    target = scaler.target
    where = f"HorizontalPodAutoscaler {target.namespace or 'default'}/{scaler.name}"
    if not scaler.workload:
        inventory.say(
            f"{where} scales {target.kind} {target.name} from {scaler.minimum} to "
            f"{scaler.maximum} pods: set `autoscaling` of its workload kind"
        )
        return
    if scaler.unsaid:
        inventory.say(f"{where}: a policy has no field for {', '.join(scaler.unsaid)}; left out")
    wanted = _autoscaling(scaler)
    there = inventory.kinds.get(scaler.workload, WorkloadKind(scaler.workload))
    before = there.autoscaling
    if before and before._replace(targets=()) == wanted._replace(targets=()):
        targets = tuple(dict.fromkeys((*before.targets, *wanted.targets)))
        inventory.kinds[scaler.workload] = there._replace(autoscaling=before._replace(targets=targets))
    else:
        inventory.add_kind(WorkloadKind(scaler.workload, autoscaling=wanted))


def _autoscaling(scaler: Autoscaler) -> Autoscaling:
    metrics = () if scaler.metrics == autoscalers.UNMETERED else scaler.metrics
    return Autoscaling(scaler.maximum, scaler.minimum, metrics, (scaler.target,), scaler.window)


def _add(quota: Quota, inventory: Inventory) -> None:
    """Adds a quota. A ResourceQuota and a LimitRange with the same name are one quota of the policy."""
    there = inventory.quotas.get(quota.name)
    if (
        there is None
        or there.namespace != quota.namespace
        or bool(there.containers) == bool(quota.containers)
    ):
        inventory.add_quota(quota)
        return
    whole, containers = (there, quota.containers) if quota.containers else (quota, there.containers)
    inventory.quotas[quota.name] = whole._replace(containers=containers)


def _countable(resource: str) -> bool:
    return resource in _PLAIN or "/" in resource or resource.startswith("hugepages-")
