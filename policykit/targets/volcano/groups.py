"""Volcano's PodGroup, and the pods that join one."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.linter.gangs import MembershipFact, group_of, named_group
from policykit.manifests.document import Manifest
from policykit.model.gang import PodGroup
from policykit.targets.volcano.names import GROUP_APIS, GROUP_NAME, SCHEDULER


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object of Volcano or kube-batch."""
    return group_of(manifest, namespace, SCHEDULER, GROUP_APIS)


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The PodGroup that the pods' group-name annotation names, in the pods' namespace."""
    return named_group(manifest, pod_set, namespace, SCHEDULER, "annotations", GROUP_NAME)
