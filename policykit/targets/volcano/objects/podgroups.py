"""PodGroup objects: scheduling.volcano.sh/v1beta1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.requests import amounts
from policykit.manifests.shape import mapping, text, whole
from policykit.model.pool import Amounts
from policykit.model.quantity import resource_list
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.objects.topology import (
    NetworkTopology,
    read_network_topology,
    write_network_topology,
)

API_VERSION = "scheduling.volcano.sh/v1beta1"


class PodGroup(NamedTuple):
    """Pods that start when `min_member` of them fit together."""

    namespace: str
    name: str
    min_member: int = 1
    queue: str = ""
    """Empty: `default`, or the queue of the namespace if the webhook for it is on."""
    priority_class: str = ""
    min_resources: Amounts = {}
    """Resources that must be free before the pods are considered (action enqueue)."""
    bound: NetworkTopology | None = None
    min_task_member: Mapping[str, int] = {}
    """Task of a job to the number of its pods that must fit."""


def write(group: PodGroup) -> dict[str, Any]:
    """The object."""
    metadata = {"name": group.name}
    if group.namespace:
        metadata["namespace"] = group.namespace
    spec: dict[str, Any] = {"minMember": group.min_member}
    if group.min_task_member:
        spec["minTaskMember"] = dict(sorted(group.min_task_member.items()))
    if group.queue:
        spec["queue"] = group.queue
    if group.priority_class:
        spec["priorityClassName"] = group.priority_class
    if group.min_resources:
        spec["minResources"] = resource_list(group.min_resources)
    if group.bound:
        spec["networkTopology"] = write_network_topology(group.bound)
    return {"apiVersion": API_VERSION, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def read(data: Mapping[str, Any]) -> PodGroup:
    """A PodGroup. Fields that are missing or have the wrong type are empty, minMember 0."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    tasks = mapping(spec.get("minTaskMember"))
    return PodGroup(
        text(metadata.get("namespace")),
        text(metadata.get("name")),
        whole(spec.get("minMember")) or 0,
        text(spec.get("queue")),
        text(spec.get("priorityClassName")),
        amounts(spec.get("minResources")),
        read_network_topology(spec.get("networkTopology")),
        {name: number for name, value in tasks.items() if (number := whole(value)) is not None},
    )
