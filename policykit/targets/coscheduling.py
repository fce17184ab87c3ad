"""The coscheduling plugin of kubernetes-sigs/scheduler-plugins."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.lazy import Lazy
from policykit.linter.gangs import MembershipFact, group_of, named_group
from policykit.linter.target import Key, Target
from policykit.manifests.document import Manifest
from policykit.model.gang import PodGroup

TARGET_NAME = "coscheduling"
POD_GROUP = "scheduling.x-k8s.io/pod-group"
"""Pod label: the PodGroup it joins."""
_GROUP_API = "scheduling.x-k8s.io"


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object of scheduler-plugins (0.27 and later; older ones are Koordinator's, too)."""
    return group_of(manifest, namespace, TARGET_NAME, frozenset({_GROUP_API}))


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The PodGroup that the pods' label names, in the pods' namespace."""
    return named_group(manifest, pod_set, namespace, TARGET_NAME, "labels", POD_GROUP)


TARGET = Target(
    TARGET_NAME,
    "scheduler-plugins",
    keys=(Key("labels", POD_GROUP, "gang"),),
    read_group=read_group,
    read_membership=read_membership,
    releases=Lazy("policykit.targets.coscheduling_releases:RELEASES"),
    release_facts=Lazy("policykit.targets.coscheduling_releases:FACTS"),
)
