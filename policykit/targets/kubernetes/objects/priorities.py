"""PriorityClass: scheduling.k8s.io/v1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.shape import mapping, text, whole
from policykit.model.queue import Priority

API_VERSION = "scheduling.k8s.io/v1"
KIND = "PriorityClass"


def write(priority: Priority) -> dict[str, Any]:
    """Defaults of the API server are stated, so nothing drifts.

    A false globalDefault is left out: the API server drops it, and kubectl would add it again each time.
    Source: `GlobalDefault` in `scheduling/v1` (omitempty).
    """
    data: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": priority.name},
        "value": priority.value,
        **({"globalDefault": True} if priority.default else {}),
        "preemptionPolicy": "PreemptLowerPriority" if priority.preempts else "Never",
    }
    if priority.description:
        data["description"] = priority.description
    return data


def read(data: Mapping[str, Any]) -> Priority:
    """What is absent or of another shape has Kubernetes' default: value 0, preempting."""
    return Priority(
        text(mapping(data.get("metadata")).get("name")),
        whole(data.get("value")) or 0,
        data.get("preemptionPolicy") != "Never",
        data.get("globalDefault") is True,
        text(data.get("description")),
    )
