"""Assigns workload kinds to the pod sets of an object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.manifests.path import Path
from policykit.model.workload import WorkloadKind
from policykit.placement.owner import owner
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review

PodSetKey = tuple[str, Path]
"""A pod set by its name and path, which changes to other fields leave as they are."""

_EXPLICIT = ("label ", "annotation ", "match ")


def pod_set_key(review: Review) -> PodSetKey:
    return review.pod_set.name, review.pod_set.path


def assigned_kinds(
    reviews: Sequence[Review], forced: WorkloadKind | None = None, *, named: bool = False
) -> dict[PodSetKey, WorkloadKind]:
    """The workload kind of each pod set to patch.

    The pod sets of one owner belong together: one that nothing recognises takes the kind of
    its siblings where they have one. `forced` is the kind of all pod sets of an object that
    was `named`, or that has to do with cards. Node daemons and components of the device stack
    are left alone, unless they are named or a label, an annotation or a match says their kind.
    """
    if forced and (named or any(_uses_cards(one) for one in reviews)):
        return {pod_set_key(one): forced for one in reviews if named or not _is_node_component(one)}
    found: dict[PodSetKey, WorkloadKind] = {}
    for siblings in _siblings(reviews):
        own = {pod_set_key(one): one.workload for one in siblings if one.workload and not _is_skipped(one)}
        kinds = {workload.name: workload for workload in own.values()}
        found |= own
        if len(kinds) == 1:
            name, workload = next(iter(kinds.items()))
            found |= {
                pod_set_key(one): workload for one in siblings if not one.workload and _may_inherit(one, name)
            }
    return found


def unknown_kind(review: Review) -> str:
    """The workload kind it names, if the policy has no such kind; else empty."""
    if review.workload:
        return ""
    pod_set, made_by = review.pod_set, owner(review.manifest, review.pod_set)
    said = (pod_set.labels, pod_set.annotations, made_by.labels, made_by.annotations)
    return next((entries[WORKLOAD_KEY] for entries in said if entries.get(WORKLOAD_KEY)), "")


def _siblings(reviews: Iterable[Review]) -> list[list[Review]]:
    owners: dict[Path, list[Review]] = {}
    for one in reviews:
        owners.setdefault(one.pod_set.owner, []).append(one)
    return list(owners.values())


def _uses_cards(review: Review) -> bool:
    claims = bool(review.pod_set.spec.get("resourceClaims"))
    return bool(review.card_resources) or claims or review.workload is not None


def _may_inherit(review: Review, kind: str) -> bool:
    fits = not review.candidates or kind in review.candidates
    return fits and not _is_node_component(review) and not unknown_kind(review)


def _is_skipped(review: Review) -> bool:
    return _is_node_component(review) and not review.decided_by.startswith(_EXPLICIT)


def _is_node_component(review: Review) -> bool:
    return review.is_system_pod or review.pod_set.per_node
