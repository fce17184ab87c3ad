"""Fixes of a pod set's placement: the placement of its workload kind, and the removal of tolerations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from policykit.linter.rule import Fix
from policykit.manifests.document import Manifest
from policykit.manifests.patch import EditError, Patch
from policykit.model.severity import Applicability
from policykit.placement.placement_patches import (
    candidate_cards,
    desired_for,
    is_editable,
    is_placement_editable,
    malformed_field,
    placement_patches,
    possible_cards,
)
from policykit.placement.review import Review

_MODE = "serving.kserve.io/deploymentMode"
_WITHOUT_KNATIVE = ("Standard", "RawDeployment", "ModelMesh")
"""Of KServe; what runs where nothing is said, its configuration says."""


def placement_fix(review: Review) -> Fix | None:
    """Tolerations and node affinity as the policy wants them for the pod set's workload kind.

    None where no workload kind was recognised, where the kind of the object gives its pods no such fields of
    its own, and where one is of another shape. Raises EditError where several cards would do.
    """
    check_one_card(review)
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


def check_one_card(review: Review) -> None:
    """Raises EditError if the pods could have several cards."""
    if cards := candidate_cards(review):
        raise EditError(f"cards {', '.join(cards)} would serve: name one with `policykit patch --card`")


def follows_choice(review: Review, *others: str) -> frozenset[str]:
    """Codes that a finding follows from where the pods could have several cards: one names the way out."""
    return frozenset(others) if candidate_cards(review) else frozenset()


def card_choice(review: Review, path: str) -> str:
    """Help that names a command for each card that the pods could have; empty: they could have one only."""
    cards = candidate_cards(review)
    if not cards:
        return ""
    return f"choose a card: {_patch_command(path)} --card {cards[0]} (or {', '.join(cards[1:])})"


def only_card(review: Review, path: str) -> str:
    """Help that names the command that selects the only card that their workload kind allows; else empty."""
    cards = possible_cards(review) if review.workload else ()
    if review.workload is None or len(cards) != 1 or not is_placement_editable(review):
        return ""
    return f"workload kind {review.workload.name} may use {cards[0]}: {_patch_command(path)}"


def _patch_command(path: str) -> str:
    plain = path and path.isprintable() and "#" not in path and "<" not in path
    return f"policykit patch {shlex.quote(path) if plain else 'FILE'}"


def _may_be_refused(manifest: Manifest) -> bool:
    """Knative takes these fields only where its flags `kubernetes.podspec-*` are on, off by default."""
    if manifest.kind == "InferenceService":
        return manifest.annotations.get(_MODE) not in _WITHOUT_KNATIVE
    return manifest.group == "serving.knative.dev"


def removal_patches(review: Review, positions: Iterable[int]) -> tuple[Patch, ...]:
    """Patches that take tolerations out, the whole field with the last; none if defined elsewhere."""
    gone = sorted(set(positions), reverse=True)
    if not gone or not is_editable(review, "tolerations"):
        return ()
    place = review.pod_set.place("tolerations")
    if len(gone) == len(review.tolerations):
        return (Patch("remove", place),)
    return tuple(Patch("remove", (*place, position)) for position in gone)
