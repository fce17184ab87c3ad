"""YuniKorn keeps gangs in pod annotations: there is no group object to join."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.linter.dialect import Dialect, Joined, pods_of
from policykit.manifests.document import Manifest
from policykit.model.gang import Membership
from policykit.targets.yunikorn.names import (
    APP_ID,
    KEYS,
    OLD_APP_IDS,
    SCHEDULER,
    TASK_GROUP_NAME,
    TASK_GROUPS,
)
from policykit.targets.yunikorn.text import CONFIGURATION, VALUES


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> Joined | None:
    """The task group of its application that a pod names, `application/group`, with its size."""
    group = pod_set.annotations.get(TASK_GROUP_NAME)
    application = _application(pod_set)
    if not group or not application:
        return None
    text = pod_set.annotations.get(TASK_GROUPS)
    membership = Membership(
        SCHEDULER,
        manifest.namespace or namespace,
        f"{application}/{group}",
        pods_of(manifest, pod_set),
        pod_set.scheduler_name,
        _minimum(text, group) if text else None,
        by_pods=True,
        embedded=True,
    )
    return Joined(
        membership, pod_set.place("annotations", TASK_GROUP_NAME), pod_set.place("annotations", TASK_GROUPS)
    )


def _application(pod_set: PodSet) -> str:
    """Application id by YuniKorn's order; empty where it would make one up."""
    named = [pod_set.labels.get(APP_ID), pod_set.annotations.get(APP_ID)]
    named.extend(pod_set.labels.get(label) for label in OLD_APP_IDS)
    return next((name for name in named if name), "")


def _minimum(text: str, group: str) -> int | None:
    """minMember of a group in a task-groups list; keys are matched in any case, as upstream."""
    import json

    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for item in listed if isinstance(listed, list) else ():
        fields = {key.lower(): value for key, value in item.items()} if isinstance(item, dict) else {}
        if fields.get("name") == group:
            minimum = fields.get("minmember")
            return minimum if isinstance(minimum, int) and not isinstance(minimum, bool) else None
    return None


DIALECT = Dialect(
    "yunikorn",
    "YuniKorn",
    frozenset({SCHEDULER}),
    KEYS,
    takes_over=True,
    read_membership=read_membership,
    configurations=(CONFIGURATION, VALUES),
)
