"""Applies workload kinds to the pod sets of one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.desired_placement import DesiredPlacement, desired_placement
from policykit.placement.owner import owner
from policykit.placement.placement_patches import (
    is_placement_editable,
    placement_patches,
    possible_cards,
)
from policykit.placement.recognition import HOW_TO_STATE, WORKLOAD_KEY
from policykit.placement.review import Review, review
from policykit.targets.workloads import field_patches
from policykit.targets.workloads.components import has_component, is_job_group
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.placement_checks import check_lands, check_shapes, check_unavailable
from policykit.targets.workloads.pod_metadata import job_metadata, pod_metadata

_OBJECT_LABEL: Path = ("metadata", "labels", WORKLOAD_KEY)
_ELSEWHERE = "its node affinity or tolerations come from another object (a runtime, a base): set them there"


class ObjectPatch(NamedTuple):
    """The changes that apply a workload kind to one object."""

    patches: tuple[Patch, ...] = ()
    """Relative to the object, in order; empty if nothing is missing."""
    kinds: tuple[str, ...] = ()
    """Workload kinds applied, each once; empty if the object was not recognised."""
    notes: tuple[str, ...] = ()
    """What is left unchanged, and why."""
    candidates: tuple[str, ...] = ()
    """Workload kinds that recognition could not choose between."""
    notices: tuple[str, ...] = ()
    """What the scheduler cannot express for any object, to be reported once."""
    objects: tuple[Mapping[str, Any], ...] = ()
    """Companion objects that it needs."""


def apply_kinds(manifest: Manifest, cluster: Cluster, namespace: str, options: PatchOptions) -> ObjectPatch:
    """The changes for every pod set of an object that has a workload kind.

    Raises PolicykitError if the policy does not decide what to write: several cards are suitable, or no
    pool is.
    """
    reviews = [review(manifest, one, cluster, namespace) for one in podsets.pod_sets(manifest.data)]
    forced = cluster.workloads[options.workload] if options.workload else None
    kinds = assigned_kinds(reviews, forced, named=options.names(manifest))
    candidates = tuple(dict.fromkeys(name for one in reviews for name in one.candidates))
    draft = _Draft(manifest, cluster, namespace)
    unknown = dict.fromkeys(unknown_kind(one) for one in reviews if pod_set_key(one) not in kinds)
    draft.notes += [_unknown_kind_note(name, cluster) for name in unknown if name]
    if not (kinds or candidates or any(unknown)) and any(one.lacks_workload_kind for one in reviews):
        draft.notes.append(f"left unchanged: it requests a card, but has no workload kind; {HOW_TO_STATE}")
    written = {key: workload for key, workload in kinds.items() if draft.has_template(key)}
    for key, workload in written.items():
        draft.label(key, workload, alone=len({kind.name for kind in kinds.values()}) == 1)
    queued = {}
    for key, workload in written.items():
        draft.place(key, options)
        queued[key] = workload._replace(queue=draft.name(key, workload, options.queue))
    for key, workload in queued.items():
        draft.add_metadata(key, workload)
    return draft.result()._replace(
        kinds=tuple(dict.fromkeys(workload.name for workload in kinds.values())), candidates=candidates
    )


class _Draft:
    """An object while it is being changed."""

    def __init__(self, manifest: Manifest, cluster: Cluster, namespace: str) -> None:
        self._manifest = manifest
        self._cluster = cluster
        self._namespace = namespace
        self._sets = podsets.pod_sets(manifest.data)
        self._patches: list[Patch] = []
        self.notes: list[str] = []
        self._notices: list[str] = []
        self._objects: list[Mapping[str, Any]] = []
        self._jobs: set[Path] = set()

    def result(self) -> ObjectPatch:
        notes, notices = (tuple(dict.fromkeys(some)) for some in (self.notes, self._notices))
        return ObjectPatch(tuple(self._patches), notes=notes, notices=notices, objects=tuple(self._objects))

    def has_template(self, key: PodSetKey) -> bool:
        """Whether the template exists. One created here would lack containers, which the API server
        rejects, or would hide the template of a base."""
        pod_set = self._pod_set(key)
        listed = pod_set.spec.get("containers")
        whole = isinstance(listed, list) and any(isinstance(each, dict) for each in listed)
        if pod_set.default_place is None or whole:
            return True
        if not pod_set.path:
            self.notes.append("it has no containers: a Pod without any is left as it is")
            return False
        if lookup(self._data, pod_set.path) is not None:
            return True
        self.notes.append(f"it has no {dotted(pod_set.path)}: pods made without it are not patched")
        return False

    def label(self, key: PodSetKey, workload: WorkloadKind, *, alone: bool) -> None:
        """Labels the template with the workload kind, and the object if a component selects it by its label;
        a job of a target's own kind is labelled only there.
        """
        pod_set = self._pod_set(key)
        template = pod_set.places.get("labels")
        owner = (*pod_set.owner, "metadata", "labels")
        unread = WORKLOAD_KEY not in pod_set.labels and WORKLOAD_KEY not in pod_set.annotations
        on_owner = template is None or (alone and unread and _is_own_job(self._data, pod_set))
        path: Path = (*(owner if on_owner or template is None else template), WORKLOAD_KEY)
        paths = [_OBJECT_LABEL, path] if alone and has_component(self._data) else [path]
        for each in dict.fromkeys(paths):
            if lookup(self._data, each) != workload.name:
                self._make((Patch("add", each, workload.name),))

    def place(self, key: PodSetKey, options: PatchOptions) -> None:
        """Adds tolerations and node affinity for the requested card, or for the kind's helpers."""
        reviewed = self._review(key)
        cards = possible_cards(reviewed)
        if options.card and len(cards) > 1 and options.card not in cards:
            self.notes.append(f"card {options.card} is not for it, but {' or '.join(cards)}: left unplaced")
            return
        want = _desired_placement(reviewed, options.card)
        if want is None:
            self._note_missing_placement(reviewed)
            return
        check_shapes(reviewed)
        changes = placement_patches(reviewed, want)
        if changes and not is_placement_editable(reviewed):
            self.notes.append(_ELSEWHERE)
        else:
            self._make(changes)
            check_lands(self._review(key), want)

    def _note_missing_placement(self, reviewed: Review) -> None:
        if reviewed.eligible_pools is None and reviewed.pod_set.spec.get("resourceClaims"):
            self.notes.append("the card of its resource claims is unknown: name it with --card")
        elif reviewed.card_resources:
            requested = ", ".join(reviewed.card_resources)
            self.notes.append(f"no pool of the policy offers {requested}, so no placement is written")

    def name(self, key: PodSetKey, workload: WorkloadKind, asked: str) -> str:
        """Sets scheduler, priority class and queue, each in the field that the object's kind has for it.

        Returns the queue: the one `asked` for, or else the chosen one.
        """
        if workload.scheduler:
            self._write(
                field_patches.scheduler_patches(self._pod_set(key), workload.scheduler),
                "schedulerName",
                workload,
            )
        if workload.priority_class:
            found = field_patches.priority_patches(
                self._data, self._pod_set(key), workload.priority_class, self._cluster
            )
            self._write(found, "priorityClassName", workload)
        queue = asked or self._queue(key, workload)
        if queue:
            found = field_patches.queue_patches(self._data, self._pod_set(key), queue, self._cluster)
            self._write(found, f"queue {queue}", workload)
        return queue

    def _queue(self, key: PodSetKey, workload: WorkloadKind) -> str:
        """The queue that is written if the policy has it, else that of the tenant, else of the kind."""
        written = field_patches.policy_queue(self._data, self._pod_set(key), self._cluster)
        namespace = self._manifest.namespace or self._namespace
        theirs = (tenant.queue for tenant in self._cluster.tenants if namespace in tenant.namespaces)
        return written or next(filter(None, theirs), workload.queue)

    def add_metadata(self, key: PodSetKey, workload: WorkloadKind) -> None:
        """Adds gang, topology and spreading in the form that the scheduler of the pods reads."""
        job = self._pod_set(key).owner
        if job not in self._jobs:
            self._jobs.add(job)
            found = job_metadata(self._data, self._pod_set(key), workload, self._cluster)
            self._make(found.patches)
            self._notices += found.notices
        found = pod_metadata(self._manifest, self._pod_set(key), self._sets, workload, self._cluster)
        self._make(found.patches)
        self.notes += found.notes
        self._notices += found.notices
        self._objects += (one for one in found.objects if one not in self._objects)

    def _write(self, found: field_patches.Change, what: str, workload: WorkloadKind) -> None:
        if found is None:
            self.notes.append(f"its kind and scheduler have no field for the {what} of {workload.name}")
        else:
            self._make(found)

    @property
    def _data(self) -> Mapping[str, Any]:
        return self._manifest.data

    def _pod_set(self, key: PodSetKey) -> PodSet:
        return next(one for one in self._sets if (one.name, one.path) == key)

    def _review(self, key: PodSetKey) -> Review:
        return review(self._manifest, self._pod_set(key), self._cluster, self._namespace)

    def _make(self, changes: tuple[Patch, ...]) -> None:
        for one in changes:
            self._manifest = self._manifest._replace(data=patched(self._data, one))
            self._patches.append(one)
        if changes:
            self._sets = podsets.pod_sets(self._data)


def _unknown_kind_note(name: str, cluster: Cluster) -> str:
    kinds = ", ".join(cluster.workloads)
    return f"{WORKLOAD_KEY} is {name}, which is not a workload kind of the policy: {kinds}"


def _is_own_job(data: Mapping[str, Any], pod_set: PodSet) -> bool:
    """Whether the pods are those of a target's own job kind."""
    version = lookup(data, (*pod_set.owner, "apiVersion"))
    group = version.partition("/")[0] if isinstance(version, str) else ""
    return is_job_group(group)


def _desired_placement(reviewed: Review, named: str) -> DesiredPlacement | None:
    """The placement for the only suitable card; None if the policy does not define one."""
    cluster, workload = reviewed.cluster, reviewed.workload
    if cluster is None or workload is None:
        return None
    if reviewed.eligible_pools is None:
        return desired_placement(cluster, workload, cluster.cards[named]) if named else None
    if not reviewed.card_resources:
        return desired_placement(cluster, workload, None) if reviewed.eligible_pools else None
    cards = possible_cards(reviewed)
    if not cards:
        check_unavailable(reviewed)
        return None
    if len(cards) > 1 and named not in cards:
        raise PolicykitError(
            f"requests {', '.join(reviewed.card_resources)}, which cards {', '.join(cards)} of workload kind "
            f"{workload.name} offer",
            f"name one with --card {cards[0]}, or state its product in the manifest",
        )
    card = named if named in cards else cards[0]
    return desired_placement(cluster, workload, cluster.cards.get(card))


PodSetKey = tuple[str, Path]
"""Name and path of a pod set, which changes to other fields preserve."""

_EXPLICIT = ("label ", "annotation ", "match ")


def pod_set_key(review: Review) -> PodSetKey:
    return review.pod_set.name, review.pod_set.path


def assigned_kinds(
    reviews: Sequence[Review], forced: WorkloadKind | None = None, *, named: bool = False
) -> dict[PodSetKey, WorkloadKind]:
    """The workload kind of each pod set to patch.

    The pod sets of one owner belong together: one that is not recognised takes the kind of its siblings.
    `forced` is the kind of all pod sets of an object that was `named`, or that uses cards. Node daemons
    and components of the device stack are skipped, unless they are named or a label, an annotation or a
    match gives them a kind.
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
    """The workload kind that the pod set names, if the policy does not have it; else empty."""
    if review.workload:
        return ""
    pod_set, made_by = review.pod_set, owner(review.manifest, review.pod_set)
    metadata = (pod_set.labels, pod_set.annotations, made_by.labels, made_by.annotations)
    return next((entries[WORKLOAD_KEY] for entries in metadata if entries.get(WORKLOAD_KEY)), "")


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
