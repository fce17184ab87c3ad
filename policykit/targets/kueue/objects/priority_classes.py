"""WorkloadPriorityClass: the priority of a workload apart from that of its pods, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, text, whole
from policykit.model.queue import Priority
from policykit.model.release import Version
from policykit.targets.kueue import versions

KIND = "WorkloadPriorityClass"


def write(priority: Priority, version: Version) -> dict[str, Any]:
    """The object, in the API version of the release. It has no default and no preemption policy."""
    description = {"description": priority.description} if priority.description else {}
    return {
        "apiVersion": versions.api_version(KIND, version),
        "kind": KIND,
        "metadata": {"name": priority.name},
        "value": priority.value,
        **description,
    }


def read(data: Mapping[str, Any]) -> Priority:
    """A WorkloadPriorityClass. Fields that are missing or have the wrong type are empty, the value 0."""
    name = text(mapping(data.get("metadata")).get("name"))
    return Priority(name, whole(data.get("value")) or 0, description=text(data.get("description")))
