"""Which pod sets of an object get which workload kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.manifests.path import Path
from policykit.model.workload import WorkloadKind
from policykit.placement.owner import owner
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review

Key = tuple[str, Path]
"""A pod set by its name and path, which changes to other fields leave as they are."""

_SAID_OUTRIGHT = ("label ", "annotation ", "match ")


def key(review: Review) -> Key:
    return review.pod_set.name, review.pod_set.path


def chosen(
    reviews: Sequence[Review], forced: WorkloadKind | None = None, *, named: bool = False
) -> dict[Key, WorkloadKind]:
    """The workload kind of each pod set that is to be patched.

    The pod sets of one owner belong together: one that nothing recognises takes the kind of
    its siblings where they have one. `forced` is the kind of all pod sets of an object that
    was `named`, or that has to do with cards. Node daemons and components of the device stack
    are left alone, unless they are named or a label, an annotation or a match says their kind.
    """
    if forced and (named or any(_concerned(one) for one in reviews)):
        return {key(one): forced for one in reviews if named or not _of_the_nodes(one)}
    found: dict[Key, WorkloadKind] = {}
    for siblings in _by_owner(reviews):
        own = {key(one): one.workload for one in siblings if one.workload and not _left_alone(one)}
        kinds = {workload.name: workload for workload in own.values()}
        found |= own
        if len(kinds) == 1:
            name, workload = next(iter(kinds.items()))
            found |= {key(one): workload for one in siblings if not one.workload and _may_join(one, name)}
    return found


def misnamed(review: Review) -> str:
    """The workload kind it names, where the policy has none of that name; else empty."""
    if review.workload:
        return ""
    pod_set, made_by = review.pod_set, owner(review.manifest, review.pod_set)
    said = (pod_set.labels, pod_set.annotations, made_by.labels, made_by.annotations)
    return next((entries[WORKLOAD_KEY] for entries in said if entries.get(WORKLOAD_KEY)), "")


def _by_owner(reviews: Iterable[Review]) -> list[list[Review]]:
    owners: dict[Path, list[Review]] = {}
    for one in reviews:
        owners.setdefault(one.pod_set.owner, []).append(one)
    return list(owners.values())


def _concerned(review: Review) -> bool:
    claims = bool(review.pod_set.spec.get("resourceClaims"))
    return bool(review.card_resources) or claims or review.workload is not None


def _may_join(review: Review, kind: str) -> bool:
    fits = not review.candidates or kind in review.candidates
    return fits and not _of_the_nodes(review) and not misnamed(review)


def _left_alone(review: Review) -> bool:
    return _of_the_nodes(review) and not review.decided_by.startswith(_SAID_OUTRIGHT)


def _of_the_nodes(review: Review) -> bool:
    return review.is_system_pod or review.pod_set.per_node
