"""Fixes of a pod set's placement: the placement of its workload kind, and the removal of tolerations."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.linter.rule import Fix
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.model.severity import Applicability
from policykit.placement.placement_patches import (
    desired_for,
    is_editable,
    is_placement_editable,
    malformed_field,
    placement_patches,
)
from policykit.placement.review import Review

_MODE = "serving.kserve.io/deploymentMode"
_WITHOUT_KNATIVE = ("Standard", "RawDeployment", "ModelMesh")
"""Of KServe; what runs where nothing is said, its configuration says."""


def placement_fix(review: Review) -> Fix | None:
    """Tolerations and node affinity as the policy wants them for the pod set's workload kind.

    None where no workload kind was recognised, where several cards would do, where the kind
    of the object gives its pods no such fields of its own, and where one is of another shape.
    """
    want = desired_for(review)
    if (
        want is None
        or review.workload is None
        or not is_placement_editable(review)
        or malformed_field(review)
    ):
        return None
    patches = placement_patches(review, want)
    if not patches:
        return None
    description = f"give the pods the placement of workload kind {review.workload.name}"
    taken = not _may_be_refused(review.manifest)
    return Fix(description, patches, Applicability.SAFE if taken else Applicability.UNSAFE)


def _may_be_refused(manifest: Manifest) -> bool:
    """Knative takes these fields only where its flags `kubernetes.podspec-*` are on, off by default."""
    if manifest.kind == "InferenceService":
        return manifest.annotations.get(_MODE) not in _WITHOUT_KNATIVE
    return manifest.group == "serving.knative.dev"


def removal_patches(review: Review, positions: Iterable[int]) -> tuple[Patch, ...]:
    """Patches that take tolerations out, the whole field with the last; none where they stand elsewhere."""
    gone = sorted(set(positions), reverse=True)
    if not gone or not is_editable(review, "tolerations"):
        return ()
    place = review.pod_set.place("tolerations")
    if len(gone) == len(review.tolerations):
        return (Patch("remove", place),)
    return tuple(Patch("remove", (*place, position)) for position in gone)
