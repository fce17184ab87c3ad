"""A workload tolerates every taint.

An empty key with operator Exists matches every taint: those of cards dedicated to others, of the
control plane and of nodes being drained. System daemons need that; workloads do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.affinity import NodeAffinity
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  tolerations:
  - operator: Exists
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    effect: NoSchedule
  containers:
  - name: main
    image: registry.example/train:1
"""

_CRITICAL = ("system-node-critical", "system-cluster-critical")
_CONTROL_PLANE = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
_SYSTEM_IMAGES = ("csi", "autoscaler", "karpenter")
"""Words in image names of storage drivers and node provisioners."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports every such toleration of a workload, but not those of DaemonSets and system components."""
    if review.pod_set.per_node or review.is_system_pod or _is_system(review):
        return
    for position, toleration in enumerate(review.tolerations):
        if not toleration.key and toleration.operator == "Exists":
            taints = f"every {toleration.effect} taint" if toleration.effect else "every taint"
            yield Violation(
                review.pod_set.place("tolerations", position),
                f"a toleration with operator Exists and no key matches {taints} of any pool",
                "name the keys of the taints that this workload should tolerate",
            )


def _is_system(review: Review) -> bool:
    spec = review.pod_set.spec
    if spec.get("priorityClassName") in _CRITICAL or _is_for_control_plane(review.affinity):
        return True
    images = [container.get("image") for _, _, container in containers(spec)]
    return any(isinstance(image, str) and _is_system_image(image) for image in images)


def _is_for_control_plane(affinity: NodeAffinity) -> bool:
    """Whether the pods are bound to nodes of the control plane, so that no taint of a pool concerns them."""
    terms = affinity.required or ()
    return not affinity.selector.keys().isdisjoint(_CONTROL_PLANE) or (
        bool(terms)
        and all(
            any(each.key in _CONTROL_PLANE and each.operator in ("In", "Exists") for each in term.expressions)
            for term in terms
        )
    )


def _is_system_image(image: str) -> bool:
    """By the words of the image name without registry, tag and digest."""
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return any(word in _SYSTEM_IMAGES for word in name.replace("_", "-").split("-"))


RULE = Rule(
    code="PK112",
    name="tolerates-everything",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("toleration",),
)
