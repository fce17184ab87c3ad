"""Changes to single tolerations of a pod set, where they stand as the pods get them."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.manifests.patch import Patch
from policykit.placement.placement_patches import is_editable
from policykit.placement.review import Review


def removal(review: Review, positions: Iterable[int]) -> tuple[Patch, ...]:
    """Patches that take tolerations out, the whole field with the last; none where they stand elsewhere."""
    gone = sorted(set(positions), reverse=True)
    if not gone or not is_editable(review, "tolerations"):
        return ()
    place = review.pod_set.place("tolerations")
    if len(gone) == len(review.tolerations):
        return (Patch("remove", place),)
    return tuple(Patch("remove", (*place, position)) for position in gone)
