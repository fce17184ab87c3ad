"""One object with its workload kind applied, pod set by pod set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.kube import podsets
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.placement.offering import offers
from policykit.placement.placing import misshapen, placeable, placing
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review, review
from policykit.placement.wanted import Wanted, wanted
from policykit.targets.workloads import fields
from policykit.targets.workloads.asked import Asked
from policykit.targets.workloads.choice import Key, chosen, misnamed
from policykit.targets.workloads.choice import key as key_of
from policykit.targets.workloads.dressing import dressed, dressed_job

_ELSEWHERE = (
    "its kind takes node affinity or tolerations from elsewhere (a runtime, a base): write them there"
)


class Applied(NamedTuple):
    """What an object needs to be as its workload kind asks."""

    patches: tuple[Patch, ...] = ()
    """Relative to the object, to be made in order; none where all is there."""
    kinds: tuple[str, ...] = ()
    """Workload kinds applied, each once; none: nothing recognised it."""
    notes: tuple[str, ...] = ()
    """For people: what is left as it is, and why."""
    candidates: tuple[str, ...] = ()
    """Workload kinds that recognition could not choose between."""
    notices: tuple[str, ...] = ()
    """For people, once: what a scheduler cannot be told, whatever the object."""
    objects: tuple[Mapping[str, Any], ...] = ()
    """Objects that must stand beside it."""


def applied(manifest: Manifest, cluster: Cluster, namespace: str, asked: Asked) -> Applied:
    """The changes for every pod set of an object that has a workload kind.

    Raises PolicykitError where the policy cannot say what to write: several cards would
    serve, or no pool does.
    """
    reviews = [review(manifest, one, cluster, namespace) for one in podsets.pod_sets(manifest.data)]
    forced = cluster.workloads[asked.workload] if asked.workload else None
    kinds = chosen(reviews, forced, named=asked.names(manifest))
    candidates = tuple(dict.fromkeys(name for one in reviews for name in one.candidates))
    draft = _Draft(manifest, cluster, namespace)
    unknown = dict.fromkeys(misnamed(one) for one in reviews if key_of(one) not in kinds)
    draft.notes += [_misnamed(name, cluster) for name in unknown if name]
    written = {key: workload for key, workload in kinds.items() if draft.writes(key)}
    for key, workload in written.items():
        draft.label(key, workload, alone=len({kind.name for kind in kinds.values()}) == 1)
    for key, workload in written.items():
        draft.place(key, asked)
        draft.name(key, workload, asked.queue or workload.queue)
    for key, workload in written.items():
        draft.dress(key, workload._replace(queue=asked.queue or workload.queue))
    return draft.made()._replace(
        kinds=tuple(dict.fromkeys(workload.name for workload in kinds.values())), candidates=candidates
    )


class _Draft:
    """An object as it is being changed."""

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

    def made(self) -> Applied:
        notes, notices = (tuple(dict.fromkeys(some)) for some in (self.notes, self._notices))
        return Applied(tuple(self._patches), notes=notes, notices=notices, objects=tuple(self._objects))

    def writes(self, key: Key) -> bool:
        """Whether the template is there to be changed: made here, it would have no containers, which
        the API server refuses, or would stand in the way of the one that a base gives."""
        pod_set = self._pod_set(key)
        listed = pod_set.spec.get("containers")
        whole = isinstance(listed, list) and any(isinstance(each, Mapping) for each in listed)
        if pod_set.default_place is None or whole:
            return True
        if not pod_set.path:
            self.notes.append("it has no containers: a Pod without any is left as it is")
            return False
        if lookup(self._data, pod_set.path) is not None:
            return True
        self.notes.append(f"it has no {dotted(pod_set.path)}: pods made without it are not patched")
        return False

    def label(self, key: Key, workload: WorkloadKind, *, alone: bool) -> None:
        """The workload kind on the template; on the owner of a Volcano Job, as its component does."""
        pod_set = self._pod_set(key)
        template = pod_set.places.get("labels")
        owner = (*pod_set.owner, "metadata", "labels")
        unsaid = WORKLOAD_KEY not in pod_set.labels and WORKLOAD_KEY not in pod_set.annotations
        on_owner = template is None or (alone and unsaid and _is_volcano_job(self._data, pod_set))
        path: Path = (*(owner if on_owner or template is None else template), WORKLOAD_KEY)
        if lookup(self._data, path) != workload.name:
            self._make((Patch("add", path, workload.name),))

    def place(self, key: Key, asked: Asked) -> None:
        """Tolerations and node affinity of the card it asks for, or of the kind's helpers."""
        looked = self._review(key)
        want = _want(looked, asked.card)
        if want is None:
            self._unplaced(looked)
            return
        _check_shapes(looked)
        changes = placing(looked, want)
        if changes and not placeable(looked):
            self.notes.append(_ELSEWHERE)
        else:
            self._make(changes)

    def _unplaced(self, looked: Review) -> None:
        if looked.meant is None and looked.pod_set.spec.get("resourceClaims"):
            self.notes.append("which card its resource claims are for is not known: name it with --card")
        elif looked.card_resources:
            self.notes.append(f"no pool of the policy offers {_resources(looked)}: it is given no placement")

    def name(self, key: Key, workload: WorkloadKind, queue: str) -> None:
        """Scheduler, priority class and queue, each where the kind of the object keeps it."""
        if workload.scheduler:
            self._write(fields.scheduler(self._pod_set(key), workload.scheduler), "schedulerName", workload)
        if workload.priority_class:
            found = fields.priority(self._data, self._pod_set(key), workload.priority_class, self._cluster)
            self._write(found, "priorityClassName", workload)
        if queue:
            found = fields.queue(self._data, self._pod_set(key), queue, self._cluster)
            self._write(found, f"queue {queue}", workload)

    def dress(self, key: Key, workload: WorkloadKind) -> None:
        """Gang, closeness and spreading, as the scheduler of the pods reads them."""
        job = self._pod_set(key).owner
        if job not in self._jobs:
            self._jobs.add(job)
            found = dressed_job(self._data, self._pod_set(key), workload, self._cluster)
            self._make(found.patches)
            self._notices += found.notices
        found = dressed(self._manifest, self._pod_set(key), self._sets, workload, self._cluster)
        self._make(found.patches)
        self.notes += found.notes
        self._notices += found.notices
        self._objects += (one for one in found.objects if one not in self._objects)

    def _write(self, found: fields.Found, what: str, workload: WorkloadKind) -> None:
        if found is None:
            self.notes.append(f"its kind and scheduler have no place for the {what} of {workload.name}")
        else:
            self._make(found)

    @property
    def _data(self) -> Mapping[str, Any]:
        return self._manifest.data

    def _pod_set(self, key: Key) -> PodSet:
        return next(one for one in self._sets if (one.name, one.path) == key)

    def _review(self, key: Key) -> Review:
        return review(self._manifest, self._pod_set(key), self._cluster, self._namespace)

    def _make(self, changes: tuple[Patch, ...]) -> None:
        for one in changes:
            self._manifest = self._manifest._replace(data=patched(self._data, one))
            self._patches.append(one)
        if changes:
            self._sets = podsets.pod_sets(self._data)


def _misnamed(name: str, cluster: Cluster) -> str:
    kinds = ", ".join(cluster.workloads)
    return f"{WORKLOAD_KEY} says {name}, which is no workload kind of the policy; it has {kinds}"


def _check_shapes(looked: Review) -> None:
    """What is of another shape, a placeholder for one, must not be written over."""
    path = misshapen(looked)
    if path:
        value = lookup(looked.pod_set.spec, path)
        raise PolicykitError(
            f"has {dotted(path)} {value!r}, which is of the wrong shape", "mend it, or fill it in first"
        )


def _is_volcano_job(data: Mapping[str, Any], pod_set: PodSet) -> bool:
    owner = lookup(data, pod_set.owner)
    version = owner.get("apiVersion") if isinstance(owner, Mapping) else None
    return isinstance(version, str) and version.startswith("batch.volcano.sh/")


def _want(looked: Review, named: str) -> Wanted | None:
    """The placement of the one card that serves; None where the policy says nothing of it."""
    cluster, workload = looked.cluster, looked.workload
    if cluster is None or workload is None:
        return None
    if looked.meant is None:
        return wanted(cluster, workload, cluster.cards[named]) if named else None
    cards = tuple(dict.fromkeys(pool.card for pool in looked.meant))
    if not looked.card_resources:
        return wanted(cluster, workload, None) if looked.meant else None
    if not cards:
        _check_unserved(looked)
        return None
    if len(cards) > 1 and named not in cards:
        raise PolicykitError(
            f"asks for {_resources(looked)}, which cards {', '.join(cards)} of workload kind"
            f" {workload.name} offer",
            f"name one with --card {cards[0]}, or state its product in the manifest",
        )
    card = named if named in cards else cards[0]
    return wanted(cluster, workload, cluster.cards.get(card))


def _check_unserved(looked: Review) -> None:
    """A card of the policy that the kind may not use is an error; of one unknown to it nothing is said."""
    assert looked.cluster is not None
    assert looked.workload is not None
    cluster = looked.cluster
    offering = [p for p in cluster.pools if all(offers(cluster, p, r) for r in looked.card_resources)]
    if not offering and not looked.cluster.complete:
        return
    product = f" on product {', '.join(looked.products)}" if looked.products else ""
    there = "; ".join(f"{p.name}: usage {p.usage or 'none'}, card {p.card or 'none'}" for p in offering)
    kind = looked.workload.name
    raise PolicykitError(
        f"asks for {_resources(looked)}{product}, which no pool of workload kind {kind} offers",
        f"pools that offer it are {there}" if offering else "no pool of the policy offers it",
    )


def _resources(looked: Review) -> str:
    return ", ".join(looked.card_resources)
