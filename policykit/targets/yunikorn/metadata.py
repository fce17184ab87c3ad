"""Application, queue and task group in the metadata of pods (shim utils.go, 1.6 and later)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.linter.gangs import MembershipFact, pods_of
from policykit.manifests.document import Manifest
from policykit.manifests.shape import whole
from policykit.model.application import MetadataValue
from policykit.model.gang import Membership
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
    from policykit.targets.yunikorn import task_groups

    listed = next((each for each in task_groups.read(text) if each.name == group), None)
    return whole(listed.fields.get("minmember")) if listed else None
