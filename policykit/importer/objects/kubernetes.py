"""Kubernetes' own objects: PriorityClasses, ResourceQuotas, configurations of kube-scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.objects.shape import mapping, mappings
from policykit.model.quantity import amount
from policykit.model.queue import Priority, Quota

_BY_THE_CHART = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"})
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})
_DEFAULT = "default-scheduler"


def priority_class(data: Mapping[str, Any], found: Found) -> None:
    """A PriorityClass; Kubernetes' and Koordinator's own are no business of a policy."""
    name, value = _name(data), data.get("value")
    if name.startswith("system-") or name in _BY_THE_CHART:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        found.say(f"PriorityClass {name} has no value; left out")
        return
    text = data.get("description")
    found.add_priority(
        Priority(
            name,
            value,
            data.get("preemptionPolicy") != "Never",
            data.get("globalDefault") is True,
            text if isinstance(text, str) else "",
        )
    )


def resource_quota(data: Mapping[str, Any], found: Found) -> None:
    """A ResourceQuota: requests, limits and the number of pods."""
    name, metadata, spec = _name(data), mapping(data.get("metadata")), mapping(data.get("spec"))
    namespace = metadata.get("namespace")
    namespace = namespace if isinstance(namespace, str) and namespace else "default"
    where = f"ResourceQuota {namespace}/{name}"
    if spec.get("scopes") or spec.get("scopeSelector"):
        found.say(f"{where} counts only pods of some scope, which a policy cannot say; left out")
        return
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    pods: int | None = None
    unsaid = []
    for key, text in mapping(spec.get("hard")).items():
        kind, _, resource = key.partition(".")
        if key in _PLAIN:
            kind, resource = "requests", key
        counted = amount(resource, text)
        if key == "pods":
            pods = amount("pods", text)
        elif kind == "requests" and counted is not None and _countable(resource):
            requests[resource] = counted
        elif kind == "limits" and counted is not None and resource in _PLAIN:
            limits[resource] = counted
        else:
            unsaid.append(key)
    if unsaid:
        found.say(f"{where}: a policy has no word for {', '.join(sorted(unsaid))}; left out")
    if requests or limits or pods is not None:
        found.add_quota(Quota(namespace, name, requests, limits, pods))


def scheduler_configuration(data: Mapping[str, Any], found: Found) -> None:
    """A KubeSchedulerConfiguration of kube-scheduler: the names it serves."""
    for profile in mappings(data.get("profiles")):
        name = profile.get("schedulerName")
        name = name if isinstance(name, str) and name else _DEFAULT
        if name != _DEFAULT:
            found.schedulers[name] = None
        for each in mappings(profile.get("pluginConfig")):
            strategy = mapping(mapping(each.get("args")).get("scoringStrategy")).get("type")
            if each.get("name") == "NodeResourcesFit" and strategy not in (None, "LeastAllocated"):
                found.say(
                    f"scheduler {name} scores nodes by {strategy}, which a policy does not say of "
                    "kube-scheduler; its configuration stays yours"
                )


def _countable(resource: str) -> bool:
    return resource in _PLAIN or "/" in resource or resource.startswith("hugepages-")


def _name(data: Mapping[str, Any]) -> str:
    name = mapping(data.get("metadata")).get("name")
    return name if isinstance(name, str) else ""
