"""The coscheduling plugin of kubernetes-sigs/scheduler-plugins, and its releases.

Source: `apis/config/types.go` and `apis/scheduling` at the tag of each release, and at the one before.
"""

from __future__ import annotations

from policykit.kube.gang_units import MembershipFact, group_of, named_group
from policykit.kube.podsets.podset import PodSet
from policykit.lazy import Lazy
from policykit.linter.target import Key, Target
from policykit.manifests.document import Manifest
from policykit.model.gang import PodGroup
from policykit.model.release import ReleaseFact, Releases, Version

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
    releases=Lazy("policykit.targets.coscheduling:RELEASES"),
    release_facts=Lazy("policykit.targets.coscheduling:FACTS"),
)


RELEASES = Releases(
    "scheduler-plugins",
    {25: 12, 26: 7, 27: 9, 28: 9, 29: 8, 30: 12, 31: 8, 32: 7, 33: 5, 34: 7},
    major=0,
    by_patch=False,
)
"""The minor release is that of the Kubernetes inside."""
_ARGS = "apis/config/types.go"


def _argument(name: str, since: Version | None = None, gone: Version | None = None) -> ReleaseFact:
    return ReleaseFact("plugin argument", f"Coscheduling: {name}", since, gone, source=_ARGS)


FACTS = (
    ReleaseFact(
        "label",
        "pod-group.scheduling.sigs.k8s.io",
        gone=Version(0, 25, 0),
        instead=f"label {POD_GROUP}",
        source="apis/scheduling/v1alpha1/types.go",
    ),
    _argument("kubeMaster", gone=Version(0, 22, 0)),
    _argument("kubeConfigPath", gone=Version(0, 22, 0)),
    _argument("deniedPGExpirationTimeSeconds", gone=Version(0, 23, 0)),
    _argument("podGroupBackoffSeconds", Version(0, 26, 0)),
    _argument("podGroupRejectPercentage", Version(0, 34, 4)),
)
