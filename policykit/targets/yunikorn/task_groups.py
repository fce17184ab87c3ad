"""Annotation `task-groups`, which lists the pods that a gang waits for: written and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.values import without_unset


class TaskGroup(NamedTuple):
    """A group of placeholders. They must request at least what the pods request, and fit the same nodes."""

    name: str
    members: int
    resources: Mapping[str, str] = {}
    """Of one pod, as Kubernetes quantities: `cpu`, not `vcore`."""
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Mapping[str, Any], ...] = ()
    affinity: Mapping[str, Any] = {}
    spread: tuple[Mapping[str, Any], ...] = ()
    """topologySpreadConstraints."""
    labels: Mapping[str, str] = {}
    """In addition to those of the application and the queue, which all placeholders have."""


def quantities(requests: Amounts) -> dict[str, str]:
    """What a placeholder must request to reserve the resources of a pod."""
    return {
        name: amount_text(name, requests[name])
        for name in sorted(requests)
        if requests[name] and name != "pods"
    }


def write(groups: Iterable[TaskGroup]) -> str:
    """The annotation."""
    return json.dumps([_write(group) for group in groups])


def _write(group: TaskGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "minMember": group.members,
        "minResource": dict(group.resources),
        **without_unset(
            {
                "labels": dict(group.labels),
                "nodeSelector": dict(group.node_selector),
                "tolerations": [dict(each) for each in group.tolerations],
                "affinity": dict(group.affinity),
                "topologySpreadConstraints": [dict(each) for each in group.spread],
            }
        ),
    }


class TaskGroupEntry(NamedTuple):
    """An item of the list, with its keys in lower case and as written."""

    position: int
    fields: Mapping[str, Any]
    written: Mapping[str, str]

    @property
    def name(self) -> str:
        name = self.fields.get("name")
        return name if isinstance(name, str) else ""

    def inside(self, field: str) -> Path:
        """Path of a field, or of the item."""
        return (self.position, self.written[field]) if field in self.written else (self.position,)


def read(written: str) -> tuple[TaskGroupEntry, ...]:
    """The groups of an annotation; empty if it is not a JSON list of maps."""
    try:
        listed = json.loads(written)
    except (ValueError, RecursionError):
        return ()
    return tuple(
        TaskGroupEntry(
            position, {k.lower(): value for k, value in item.items()}, {k.lower(): k for k in item}
        )
        for position, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    )
