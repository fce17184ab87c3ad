"""Annotation `task-groups`: the pods a gang waits for, written and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.targets.yunikorn.configuration.shape import items, kept, text, texts, whole


class TaskGroup(NamedTuple):
    """Placeholders of one kind: they must ask for at least what the pods ask, and fit where those do."""

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
    """Beside those of the application and the queue, which placeholders have anyway."""


def quantities(requests: Amounts) -> dict[str, str]:
    """What a placeholder must request to hold the place of a pod."""
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
        **kept(
            {
                "labels": dict(group.labels),
                "nodeSelector": dict(group.node_selector),
                "tolerations": [dict(each) for each in group.tolerations],
                "affinity": dict(group.affinity),
                "topologySpreadConstraints": [dict(each) for each in group.spread],
            }
        ),
    }


def read(annotation: str) -> tuple[TaskGroup, ...]:
    """Its groups; keys are matched in any case, as upstream. Empty for what is no list in JSON."""
    try:
        data = json.loads(annotation)
    except (ValueError, RecursionError):
        return ()
    return tuple(map(_read, items(data)))


def _read(data: Mapping[str, Any]) -> TaskGroup:
    found = {str(key).lower(): value for key, value in data.items()}
    return TaskGroup(
        text(found.get("name")),
        whole(found.get("minmember")),
        texts(found.get("minresource")),
        texts(found.get("nodeselector")),
        tuple(items(found.get("tolerations"))),
        mapping(found.get("affinity")),
        tuple(items(found.get("topologyspreadconstraints"))),
        texts(found.get("labels")),
    )
