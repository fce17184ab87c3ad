"""Application, queue and task groups in the metadata of pods (shim utils.go, 1.6 and later)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.gang_units import MembershipFact, pods_of
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import whole
from policykit.model.declared_queues import MetadataValue
from policykit.model.gang import Membership
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration.values import without_unset
from policykit.targets.yunikorn.names import (
    APP_ID,
    OLD_APP_IDS,
    OLD_QUEUE,
    QUEUE,
    SCHEDULER,
    TASK_GROUP_NAME,
    TASK_GROUPS,
)

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


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


def write_task_groups(groups: Iterable[TaskGroup]) -> str:
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


def read_task_groups(written: str) -> tuple[TaskGroupEntry, ...]:
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


USER_INFO = "yunikorn.apache.org/user.info"
DOMAIN = "yunikorn.apache.org/"
_IDS = (
    ("labels", APP_ID),
    ("annotations", APP_ID),
    *(("labels", label) for label in OLD_APP_IDS),
)
_QUEUES = (("labels", QUEUE), ("annotations", QUEUE), ("labels", OLD_QUEUE))


def is_scheduled(pod_set: PodSet, cluster: Cluster | None) -> bool:
    """Whether YuniKorn schedules the pods: by schedulerName, or if there is none by YuniKorn's metadata."""
    if not pod_set.scheduler_name:
        return any(key.startswith(DOMAIN) for key in (*pod_set.labels, *pod_set.annotations))
    target = cluster.targets.get("yunikorn") if cluster else None
    return pod_set.scheduler_name in (SCHEDULER, target.scheduler_name if target else SCHEDULER)


def ids(pod_set: PodSet) -> tuple[MetadataValue, ...]:
    """Every application id of the pods; the first wins."""
    return _values(pod_set, _IDS)


def application(pod_set: PodSet) -> str:
    """The application id that YuniKorn uses; empty if it generates one."""
    return next((each.value for each in ids(pod_set)), "")


def queues(pod_set: PodSet) -> tuple[MetadataValue, ...]:
    """Every queue of the pods; the first wins."""
    return _values(pod_set, _QUEUES)


def _values(pod_set: PodSet, places: tuple[tuple[str, str], ...]) -> tuple[MetadataValue, ...]:
    entries: Mapping[str, Mapping[str, str]] = {
        "labels": pod_set.labels,
        "annotations": pod_set.annotations,
    }
    return tuple(
        MetadataValue(f"{where[:-1]} {key}", entries[where][key])
        for where, key in places
        if entries[where].get(key)
    )


def location(value: MetadataValue) -> tuple[str, str]:
    """Its location in a template: labels or annotations, and the key."""
    where, _, key = value.key.partition(" ")
    return f"{where}s", key


def canonical_json(text: str) -> str:
    """JSON in canonical form; other text unchanged."""
    try:
        return json.dumps(json.loads(text), sort_keys=True) if text else ""
    except (ValueError, RecursionError):
        return text


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The task group that a pod names, as `application/group`, with its size.

    Gangs exist in pod annotations only: there is no group object.
    """
    group = pod_set.annotations.get(TASK_GROUP_NAME)
    app_id = application(pod_set)
    if not group or not app_id:
        return None
    text = pod_set.annotations.get(TASK_GROUPS)
    membership = Membership(
        SCHEDULER,
        manifest.namespace or namespace,
        f"{app_id}/{group}",
        pods_of(manifest, pod_set),
        pod_set.scheduler_name,
        _minimum(text, group) if text else None,
        by_pods=True,
        embedded=True,
    )
    return MembershipFact(
        membership, pod_set.place("annotations", TASK_GROUP_NAME), pod_set.place("annotations", TASK_GROUPS)
    )


def _minimum(text: str, group: str) -> int | None:
    """minMember of a group in a list of task groups."""

    listed = next((each for each in read_task_groups(text) if each.name == group), None)
    return whole(listed.fields.get("minmember")) if listed else None
