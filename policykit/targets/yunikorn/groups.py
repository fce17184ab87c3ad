"""YuniKorn keeps gangs in pod annotations: there is no group object to join."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.linter.gangs import MembershipFact, pods_of
from policykit.manifests.document import Manifest
from policykit.manifests.shape import whole
from policykit.model.gang import Membership
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.names import SCHEDULER, TASK_GROUP_NAME, TASK_GROUPS


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The task group of its application that a pod names, `application/group`, with its size."""
    group = pod_set.annotations.get(TASK_GROUP_NAME)
    application = metadata.application(pod_set)
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
    return MembershipFact(
        membership, pod_set.place("annotations", TASK_GROUP_NAME), pod_set.place("annotations", TASK_GROUPS)
    )


def _minimum(text: str, group: str) -> int | None:
    """minMember of a group in a list of task groups."""
    from policykit.targets.yunikorn import task_groups

    listed = next((each for each in task_groups.read(text) if each.name == group), None)
    return whole(listed.fields.get("minmember")) if listed else None
