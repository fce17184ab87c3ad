"""Koordinator: elastic quotas, and what NodeResourcesFitPlus packs by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.objects.shape import mapping, mappings
from policykit.kube.requests import amounts
from policykit.model.queue import Queue
from policykit.targets.koordinator import config
from policykit.targets.koordinator.chart import CONFIG_MAP, KEY, NAMESPACE
from policykit.targets.koordinator.names import SCHEDULER, SYSTEM

_PREFIX = "quota.scheduling.koordinator.sh/"
_OWN = ("koordinator-root-quota", "koordinator-system-quota", "koordinator-default-quota")
_PLUGINS = frozenset(
    {
        *("LoadAwareScheduling", "NodeNUMAResource", "Reservation", "Coscheduling", "DeviceShare"),
        *("ElasticQuota", config.FIT_PLUS, "ScarceResourceAvoidance", "SchedulingHint"),
    }
)
_TYPES = ("MostAllocated", "LeastAllocated")


def elastic_quota(data: Mapping[str, Any], found: Found) -> None:
    """An ElasticQuota as a queue: max limits; min is lent when unused, unless the quota says no."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    name, labels = metadata.get("name"), mapping(metadata.get("labels"))
    found.target(SYSTEM)
    if not isinstance(name, str) or name in _OWN:
        return
    parent = labels.get(f"{_PREFIX}parent")
    least = amounts(spec.get("min"))
    lends = labels.get(f"{_PREFIX}allow-lent-resource") != "false"
    if mapping(metadata.get("annotations")).get(f"{_PREFIX}shared-weight"):
        found.say(f"ElasticQuota {name} has a shared-weight of its own, which a policy cannot say; left out")
    found.add_queue(
        Queue(
            name,
            parent if isinstance(parent, str) and parent not in _OWN else "",
            guarantee={} if lends else least,
            deserved=least if lends else {},
            limit=amounts(spec.get("max")),
        )
    )


def config_map(data: Mapping[str, Any], found: Found) -> str:
    """The scheduler configuration in the ConfigMap of koord-scheduler, as text; empty: none."""
    metadata = mapping(data.get("metadata"))
    text = mapping(data.get("data")).get(KEY)
    if metadata.get("name") != CONFIG_MAP or not isinstance(text, str):
        return ""
    namespace = metadata.get("namespace")
    other = namespace if isinstance(namespace, str) and namespace != NAMESPACE else ""
    found.target(SYSTEM, namespace=other)
    return text


def is_koordinators(data: Mapping[str, Any]) -> bool:
    """Whether a KubeSchedulerConfiguration is koord-scheduler's: by name, or by a plugin of its own."""
    return any(
        profile.get("schedulerName") == SCHEDULER
        or any(each.get("name") in _PLUGINS for each in mappings(profile.get("pluginConfig")))
        for profile in mappings(data.get("profiles"))
    )


def configuration(data: Mapping[str, Any], found: Found) -> None:
    """koord-scheduler's configuration: the name it serves, and the weights of NodeResourcesFitPlus."""
    profiles = mappings(data.get("profiles"))
    for number, profile in enumerate(profiles):
        name = profile.get("schedulerName")
        name = name if isinstance(name, str) else "default-scheduler"
        fit = _fit(config.arguments(profile, config.FIT_PLUS), found)
        if number == 0 or fit:
            found.target(SYSTEM, schedulerName=name, fit=fit)
        if name != "default-scheduler":
            found.schedulers[name] = None


def _fit(arguments: Mapping[str, Any], found: Found) -> dict[str, dict[str, Any]]:
    fit: dict[str, dict[str, Any]] = {}
    for resource, each in mapping(arguments.get("resources")).items():
        kind, weight = mapping(each).get("type"), mapping(each).get("weight")
        whole = isinstance(weight, int) and not isinstance(weight, bool) and weight > 0
        if kind in _TYPES and whole:
            fit[resource] = {"type": kind, "weight": weight}
        else:
            found.say(
                f"NodeResourcesFitPlus: {resource} has type {kind} and weight {weight}, no effect; left out"
            )
    return fit
