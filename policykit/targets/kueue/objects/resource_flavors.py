"""ResourceFlavor and Topology, and the quotas by flavor of queues (`resourceGroups`), written and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policykit.kube import tolerations
from policykit.manifests.shape import mapping, mappings, pairs, text, texts
from policykit.model.pool import Taint, Toleration
from policykit.model.quantity import amount, amount_text
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue import versions

RESOURCE_FLAVOR = "ResourceFlavor"


class ResourceFlavor(NamedTuple):
    """Nodes with a quota of their own."""

    name: str
    labels: Mapping[str, str] = {}
    """Labels of its nodes, which admitted pods get as their nodeSelector."""
    taints: tuple[Taint, ...] = ()
    """Taints of its nodes: only pods that tolerate them are admitted."""
    tolerations: tuple[Toleration, ...] = ()
    """Tolerations added to admitted pods."""
    topology: str = ""
    """Name of the Topology of its nodes; empty: none."""


def write_flavor(flavor: ResourceFlavor, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    spec: dict[str, Any] = {}
    if flavor.labels:
        spec["nodeLabels"] = dict(sorted(flavor.labels.items()))
    if flavor.taints:
        spec["nodeTaints"] = [_taint(taint) for taint in flavor.taints]
    if flavor.tolerations:
        spec["tolerations"] = [tolerations.to_dict(each) for each in flavor.tolerations]
    if flavor.topology:
        spec["topologyName"] = flavor.topology
    return {
        "apiVersion": versions.api_version(RESOURCE_FLAVOR, version),
        "kind": RESOURCE_FLAVOR,
        "metadata": {"name": flavor.name},
        **({"spec": spec} if spec else {}),
    }


def _taint(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def read_flavor(data: Mapping[str, Any]) -> ResourceFlavor:
    """A ResourceFlavor. Fields that are missing or have the wrong type are empty."""
    spec = mapping(data.get("spec"))
    return ResourceFlavor(
        text(mapping(data.get("metadata")).get("name")),
        pairs(spec.get("nodeLabels")),
        tolerations.read_taints(spec.get("nodeTaints")),
        tolerations.read(spec.get("tolerations")),
        text(spec.get("topologyName")),
    )


TOPOLOGY = "Topology"


class Topology(NamedTuple):
    """Levels by which Kueue places the pods of a workload."""

    name: str
    levels: tuple[str, ...]
    """Node labels, widest level first. Kueue ignores nodes that lack one of them."""


def write_topology(topology: Topology, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release."""
    return {
        "apiVersion": versions.api_version(TOPOLOGY, version),
        "kind": TOPOLOGY,
        "metadata": {"name": topology.name},
        "spec": {"levels": [{"nodeLabel": level} for level in topology.levels]},
    }


def read_topology(data: Mapping[str, Any]) -> Topology:
    """A Topology. Fields that are missing or have the wrong type are empty."""
    return Topology(
        text(mapping(data.get("metadata")).get("name")),
        tuple(text(each.get("nodeLabel")) for each in mappings(mapping(data.get("spec")).get("levels"))),
    )


class Quota(NamedTuple):
    """Amounts of one resource in one flavor: cpu in milli-cores, everything else in units."""

    nominal: int = 0
    borrowing_limit: int | None = None
    """The most it may borrow beyond `nominal`; None: no limit."""
    lending_limit: int | None = None
    """The most of `nominal` that others may borrow; None: all of it."""


class ResourceGroup(NamedTuple):
    """Resources that a pod set gets from the same flavor. Each flavor has all of them, in this order."""

    resources: tuple[str, ...]
    flavors: Mapping[str, Mapping[str, Quota]]
    """Flavor to resource to quota, in the order in which flavors are tried."""


def write_group(group: ResourceGroup) -> dict[str, Any]:
    """One entry of `resourceGroups`."""
    return {
        "coveredResources": list(group.resources),
        "flavors": [
            {
                "name": name,
                "resources": [_quota(resource, quotas[resource]) for resource in group.resources],
            }
            for name, quotas in group.flavors.items()
        ],
    }


def _quota(resource: str, quota: Quota) -> dict[str, str]:
    written = {"name": resource, "nominalQuota": amount_text(resource, quota.nominal)}
    if quota.borrowing_limit is not None:
        written["borrowingLimit"] = amount_text(resource, quota.borrowing_limit)
    if quota.lending_limit is not None:
        written["lendingLimit"] = amount_text(resource, quota.lending_limit)
    return written


def read_groups(data: object) -> tuple[ResourceGroup, ...]:
    """The entries of `resourceGroups`. An invalid quota counts as 0, and an invalid limit as none."""
    return tuple(
        ResourceGroup(
            texts(group.get("coveredResources")),
            {
                text(flavor.get("name")): {
                    text(each.get("name")): _read_quota(each) for each in mappings(flavor.get("resources"))
                }
                for flavor in mappings(group.get("flavors"))
            },
        )
        for group in mappings(data)
    )


def _read_quota(data: Mapping[str, Any]) -> Quota:
    resource = text(data.get("name"))
    nominal, borrowing, lending = (
        amount(resource, data.get(field)) for field in ("nominalQuota", "borrowingLimit", "lendingLimit")
    )
    return Quota(nominal or 0, borrowing, lending)


STATED_RESOURCES = "policykit.io/stated"


class StatedResources(NamedTuple):
    """Resources that the policy states for a queue, by amount."""

    guarantee: tuple[str, ...] = ()
    deserved: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()


def stated_metadata(stated: StatedResources | None) -> dict[str, dict[str, str]]:
    """The annotation, as part of `metadata`; empty if they are unknown."""
    if stated is None:
        return {}
    written = {field: list(names) for field, names in stated._asdict().items() if names}
    return {"annotations": {STATED_RESOURCES: json.dumps(written, separators=(",", ":"))}}


def read_stated(data: Mapping[str, Any]) -> StatedResources | None:
    """The resources in an object's annotation; None: it has none, or an invalid one."""
    written = pairs(mapping(data.get("metadata")).get("annotations")).get(STATED_RESOURCES)
    if written is None:
        return None
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return StatedResources(*(texts(mapping(found).get(field)) for field in StatedResources._fields))
