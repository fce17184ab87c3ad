"""The one fix of a pod set's placement: what its workload kind should have, whole (contract 8)."""

from __future__ import annotations

from policykit.linter.rule import Fix
from policykit.model.severity import Applicability
from policykit.placement.placing import placeable, placing, wanted_by
from policykit.placement.review import Review


def placement_fix(review: Review) -> Fix | None:
    """Tolerations and node affinity as the policy wants them for the pod set's workload kind.

    None where no workload kind was recognised, where several cards would do, and where the
    kind of the object gives its pods no such fields of its own.
    """
    want = wanted_by(review)
    if want is None or review.workload is None or not placeable(review):
        return None
    patches = placing(review, want)
    if not patches:
        return None
    name = review.workload.name
    return Fix(f"give the pods the placement of workload kind {name}", patches, Applicability.SAFE)
