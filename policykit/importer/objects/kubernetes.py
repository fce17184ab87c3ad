"""Kubernetes' own objects: PriorityClasses, quotas, ranges, autoscalers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.objects.kube_scheduler import scheduler_configuration, second_scheduler
from policykit.model.autoscaling import Autoscaling
from policykit.model.queue import ContainerRange, Quota
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes.objects import autoscalers, priorities, quotas, ranges
from policykit.targets.kubernetes.objects.autoscalers import Autoscaler

__all__ = [
    "autoscaler",
    "limit_range",
    "priority_class",
    "resource_quota",
    "scheduler_configuration",
    "second_scheduler",
]

_BY_THE_CHART = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"})
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})


def priority_class(data: Mapping[str, Any], found: Found) -> None:
    """A PriorityClass; Kubernetes' and Koordinator's own are no business of a policy."""
    priority, value = priorities.read(data), data.get("value")
    if priority.name.startswith("system-") or priority.name in _BY_THE_CHART:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        found.say(f"PriorityClass {priority.name} has no value; left out")
        return
    found.add_priority(priority)


def resource_quota(data: Mapping[str, Any], found: Found) -> None:
    """A ResourceQuota: requests, limits and the number of pods, of all or of some priorities."""
    quota = quotas.read(data)
    namespace = quota.namespace or "default"
    where = f"ResourceQuota {namespace}/{quota.name}"
    if "scopes" in quota.unsaid or "scopeSelector" in quota.unsaid:
        found.say(f"{where} counts only pods of some scope, which a policy cannot say; left out")
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
        found.say(f"{where}: a policy has no word for {', '.join(sorted(unsaid))}; left out")
    pods = quota.hard.get("pods")
    if requests or limits or pods is not None or not quota.hard:
        _add(Quota(namespace, quota.name, requests, limits, pods, quota.priorities), found)


def limit_range(data: Mapping[str, Any], found: Found) -> None:
    """A LimitRange of containers: part of the quota of its name, or a quota of its own."""
    limits = ranges.read(data)
    namespace = limits.namespace or "default"
    where = f"LimitRange {namespace}/{limits.name}"
    if limits.unsaid:
        found.say(f"{where}: a policy has no word for {', '.join(limits.unsaid)}; left out")
    if limits.containers == ContainerRange():
        return
    home = next((q for q in found.quotas.values() if q.namespace == namespace and q.containers), None)
    if home is not None and home.name != limits.name:
        found.say(f"{where}: containers of {namespace} have defaults and bounds by {home.name}; left out")
        return
    _add(Quota(namespace, limits.name, containers=limits.containers), found)


def autoscaler(data: Mapping[str, Any], found: Found) -> None:
    """A HorizontalPodAutoscaler: part of the workload kind that its label names."""
    scaler = autoscalers.read(data)
    target = scaler.target
    where = f"HorizontalPodAutoscaler {target.namespace or 'default'}/{scaler.name}"
    if not scaler.workload:
        found.say(
            f"{where} keeps {target.kind} {target.name} between {scaler.minimum} and "
            f"{scaler.maximum} pods: say so "
            "under `autoscaling` of its workload kind"
        )
        return
    if scaler.unsaid:
        found.say(f"{where}: a policy has no word for {', '.join(scaler.unsaid)}; left out")
    wanted = _autoscaling(scaler)
    there = found.kinds.get(scaler.workload, WorkloadKind(scaler.workload))
    before = there.autoscaling
    if before and before._replace(targets=()) == wanted._replace(targets=()):
        targets = tuple(dict.fromkeys((*before.targets, *wanted.targets)))
        found.kinds[scaler.workload] = there._replace(autoscaling=before._replace(targets=targets))
    else:
        found.add_kind(WorkloadKind(scaler.workload, autoscaling=wanted))


def _autoscaling(scaler: Autoscaler) -> Autoscaling:
    metrics = () if scaler.metrics == autoscalers.UNMETERED else scaler.metrics
    return Autoscaling(scaler.maximum, scaler.minimum, metrics, (scaler.target,), scaler.window)


def _add(quota: Quota, found: Found) -> None:
    """A policy says in one quota what is a ResourceQuota and a LimitRange of one name."""
    there = found.quotas.get(quota.name)
    if (
        there is None
        or there.namespace != quota.namespace
        or bool(there.containers) == bool(quota.containers)
    ):
        found.add_quota(quota)
        return
    whole, containers = (there, quota.containers) if quota.containers else (quota, there.containers)
    found.quotas[quota.name] = whole._replace(containers=containers)


def _countable(resource: str) -> bool:
    return resource in _PLAIN or "/" in resource or resource.startswith("hugepages-")
