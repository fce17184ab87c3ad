"""Gang, topology and spreading of pods, in the fields that their scheduler reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube.podsets import PodSet, queues
from policykit.linter.target import JobSupport
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import lookup
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.owner import owner
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import target_name_of, target_of
from policykit.targets.workloads.field_patches import (
    field_patches,
    pod_fields,
    spread_only,
    without_gang,
    without_gang_and_topology,
    without_queue,
)
from policykit.targets.workloads.gangs import (
    GangChange,
    controller_gang,
    makes_several_gangs,
    other_application,
    other_gang,
    pods,
    resized_gang,
    shares_annotations,
    too_few_pods,
)

_SHARED = "its pod templates share one metadata field, and a gang needs one for each: no gang is declared"
_REPEATED = "it makes several gangs from one template, which cannot name each of them: no gang is declared"


class PodMetadata(NamedTuple):
    """Patches for one pod set of an object, and the companion objects it needs."""

    patches: tuple[Patch, ...] = ()
    objects: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    """What is left unchanged in this object."""
    notices: tuple[str, ...] = ()
    """What the scheduler cannot express for any object."""


def pod_metadata(
    manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet], kind: WorkloadKind, cluster: Cluster
) -> PodMetadata:
    """Fields missing from the pods and their owner; `sets` are all pod sets of the object.

    Placement and schedulerName must already be set, since gangs repeat them.
    """
    target_name = target_name_of(pod_set.scheduler_name, cluster)
    request = _Request(manifest, pod_set, sets, cluster, target_name, pods(manifest, pod_set, sets))
    jobs = own_jobs(target_name)
    if jobs and jobs.includes(owner(manifest, pod_set).group):
        # The job has its own fields for the rest; its pods only set how they are spread.
        made = pod_fields(spread_only(kind), cluster, None, request.pods) if kind.across else PodFields()
        return _metadata(request, kind, made)
    chosen = _select_fields(request, kind)
    found = _metadata(request, kind, chosen.fields)
    return found._replace(
        patches=(*chosen.gang.patches, *found.patches), notes=(*chosen.gang.notes, *found.notes)
    )


class _Request(NamedTuple):
    """A pod set with everything that determines its fields."""

    manifest: Manifest
    pod_set: PodSet
    sets: Sequence[PodSet]
    cluster: Cluster
    target_name: str | None
    pods: PodContext

    def fields(self, kind: WorkloadKind) -> PodFields:
        return pod_fields(kind, self.cluster, self.target_name, self.pods)


class _Fields(NamedTuple):
    """The fields to set, and changes to a gang that exists without them."""

    fields: PodFields
    gang: GangChange = GangChange()


def _select_fields(request: _Request, kind: WorkloadKind) -> _Fields:
    """The fields of a kind, without its gang if that already exists."""
    manifest, pod_set, *_ = request
    wanted, singly = request.fields(kind), request.fields(without_gang_and_topology(kind))
    together = kind.gang == "all"
    theirs = other_application(manifest, pod_set, request.target_name, wanted)
    if not theirs and together:
        theirs = other_gang(manifest, pod_set, request.target_name, wanted)
    if theirs:
        left = GangChange(notes=(f"its pods are in {theirs} already: left unchanged",))
        return _Fields(_without_application(singly, request.target_name), left)
    if not together:
        return _Fields(wanted)
    gang = controller_gang(manifest.data, pod_set, kind)
    target = target_of(request.target_name)
    if gang and target and target.grouped_by_controllers:
        return _Fields(singly if _declares_group(wanted) else wanted, gang)
    if too_few_pods(request.pods.job) or pod_set.stored:
        alone = request.fields(without_gang(kind))
        return _Fields((singly if alone.objects else alone)._replace(notices=wanted.notices))
    reason = _gang_obstacle(request, kind, wanted)
    if reason:
        return _Fields(singly, GangChange(notes=(reason,)))
    return _Fields(wanted, resized_gang(manifest.data, pod_set, kind))


def _declares_group(wanted: PodFields) -> bool:
    """Whether the fields declare a gang."""
    return bool(wanted.annotations or wanted.owner_annotations or wanted.objects)


def _gang_obstacle(request: _Request, kind: WorkloadKind, wanted: PodFields) -> str:
    """Why metadata cannot declare the gang; empty if it can, or the system has none."""
    if wanted[:5] == request.fields(without_gang(kind))[:5]:
        return ""
    if makes_several_gangs(request.manifest, request.pod_set, request.sets):
        return _REPEATED
    if not shares_annotations(request.pod_set, request.sets):
        return ""
    parts = [request.pods._replace(pod_set=one.name) for one in request.pods.job]
    apart = any(request._replace(pods=one).fields(kind)[:2] != wanted[:2] for one in parts)
    return _SHARED if apart else ""


def _without_application(wanted: PodFields, target_name: str | None) -> PodFields:
    """For pods that already name their application."""
    target = target_of(target_name)
    label = target.application_label if target else ""
    return wanted._replace(labels={key: text for key, text in wanted.labels.items() if key != label})


def own_jobs(target_name: str | None) -> JobSupport | None:
    """The target's own job kinds; None: it has none."""
    target = target_of(target_name)
    return target.jobs if target else None


def job_metadata(
    data: Mapping[str, Any], pod_set: PodSet, kind: WorkloadKind, cluster: Cluster
) -> PodMetadata:
    """Fields missing from the owner of a pod set, if it is one of its target's own jobs."""
    job = lookup(data, pod_set.owner)
    jobs = own_jobs(target_name_of(pod_set.scheduler_name, cluster))
    if jobs is None or not isinstance(job, dict):
        return PodMetadata()
    if not jobs.includes(str(job.get("apiVersion")).partition("/")[0]):
        return PodMetadata()
    missing = (
        one
        for one in jobs.patches.load()(job, kind, cluster)
        if one.op != "add" or lookup(job, one.path) != one.value
    )
    patches = tuple(one._replace(path=(*pod_set.owner, *one.path)) for one in missing)
    return PodMetadata(patches, notices=jobs.notices.load()(job, kind, cluster))


def _metadata(request: _Request, kind: WorkloadKind, wanted: PodFields) -> PodMetadata:
    data, pod_set = request.manifest.data, request.pod_set
    queue = queues.read(data, pod_set, request.target_name or "")
    found = field_patches(data, pod_set, without_queue(wanted, queue.value) if queue else wanted)
    notes = (
        (f"its kind has no field for {', '.join(found.unsupported)} of its pods",)
        if found.unsupported
        else ()
    )
    # Pods that cannot name a group do not join it.
    named = not {*wanted.labels, *wanted.annotations} & {*found.unsupported} - {WORKLOAD_KEY}
    objects = tuple(with_kind_label(one, kind) for one in wanted.objects if named)
    return PodMetadata(found.patches, objects, notes, wanted.notices)


def with_kind_label(data: Mapping[str, Any], kind: WorkloadKind) -> Mapping[str, Any]:
    """An object with the label that marks it as generated."""
    metadata = data.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), WORKLOAD_KEY: kind.name}
    return {**data, "metadata": {**metadata, "labels": labels}}
