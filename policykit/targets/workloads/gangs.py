"""The gangs of an object: pods that start together, and gangs that already exist."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube import requests
from policykit.kube.gang_units import MembershipFact, size_patch
from policykit.kube.podsets import Gang, PodSet, gangs, queues
from policykit.linter.target import Target
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.owner import owner
from policykit.targets import target_of

_UNFIT = re.compile(r"[^a-z0-9-]+")
_NAMES = ("name", "groupName")
"""Fields with the name of an item in a list of templates: a task, a worker group."""
_WHOLE = frozenset({"JobSet"})
"""Kinds whose child jobs are parts of one job, although each may be a gang."""


def pods(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> PodContext:
    """The context of a pod set: those that start with it. `sets`: all of the object, with placement applied.

    An object may create several jobs of several pods: all but the first are distinguished by name.
    """
    made_by = owner(manifest, pod_set)
    job = job_of(manifest, pod_set, sets)
    names = _names(manifest.data, job)
    members = tuple(_members(one, name) for one, name in zip(job, names, strict=True))
    mine = next((name for one, name in zip(job, names, strict=True) if one.path == pod_set.path), "")
    name = made_by.name
    first = next(one for one in sets if one.owner == pod_set.owner)
    if name and first not in job and not too_few_pods(members):
        name = f"{name}-{_plain(manifest.data, job[0])}"
    return PodContext(name, made_by.kind, made_by.namespace, mine, members)


def too_few_pods(job: Sequence[JobPods]) -> bool:
    """Whether there are fewer than two pods."""
    numbers = [one.replicas for one in job]
    return None not in numbers and sum(number or 0 for number in numbers) < 2


def makes_several_gangs(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> bool:
    """Whether the object creates several gangs from one template, which cannot name each of them."""
    gang = gang_of(manifest.data, pod_set)
    if gang is None or gang.pods is None or owner(manifest, pod_set).kind in _WHOLE:
        return False
    together = [one.replicas for one in sets if _counts(one, gang)]
    return None not in together and sum(number or 0 for number in together) > gang.pods > 0


def shares_annotations(pod_set: PodSet, sets: Sequence[PodSet]) -> bool:
    """Whether other pod sets get their annotations from the same place."""
    place = pod_set.places.get("annotations")
    return any(one.path != pod_set.path and one.places.get("annotations") == place for one in sets)


def gang_of(data: Mapping[str, Any], pod_set: PodSet) -> Gang | None:
    """The gang that the kind of the object gives a pod set."""
    return next((one for one in gangs(data) if _counts(pod_set, one)), None)


def _counts(pod_set: PodSet, gang: Gang) -> bool:
    """Whether a pod set is in a gang; variants of a template have its name as a prefix."""
    return any(pod_set.name == name or pod_set.name.startswith(f"{name}.") for name in gang.members)


def job_of(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> list[PodSet]:
    """Pod sets of its gang, without the pod that submits a Ray job; without a gang, all of its owner."""
    gang = gang_of(manifest.data, pod_set)
    if gang is not None and owner(manifest, pod_set).kind not in _WHOLE:
        return [one for one in sets if _counts(one, gang)]
    if gang is None and any(one.members for one in gangs(manifest.data)):
        return [pod_set]
    return [one for one in sets if one.owner == pod_set.owner]


def _members(pod_set: PodSet, name: str) -> JobPods:
    spec = pod_set.spec
    selector, tolerations, affinity = (spec.get(f) for f in ("nodeSelector", "tolerations", "affinity"))
    return JobPods(
        name,
        pod_set.replicas,
        requests.effective(spec, pod_set.devices),
        selector if isinstance(selector, dict) else {},
        tuple(one for one in tolerations if isinstance(one, dict)) if isinstance(tolerations, list) else (),
        affinity if isinstance(affinity, dict) else {},
    )


def _names(data: Mapping[str, Any], job: Sequence[PodSet]) -> list[str]:
    """Unique names of pod sets; a single one needs none."""
    if len(job) == 1:
        return [""]
    names: list[str] = []
    for one in job:
        name, number = _plain(data, one), 1
        while name in names:
            number += 1
            name = f"{_plain(data, one)}-{number}"
        names.append(name)
    return names


def _plain(data: Mapping[str, Any], pod_set: PodSet) -> str:
    return _UNFIT.sub("-", _name(data, pod_set).lower()).strip("-") or "pods"


def _name(data: Mapping[str, Any], pod_set: PodSet) -> str:
    """Name of its list item, or its key in a map; else the name of the template."""
    above: Path = pod_set.path
    while above and not isinstance(above[-1], int):
        above = above[:-1]
    for field in _NAMES if above[len(pod_set.owner) :] else ():
        called = lookup(data, (*above, field))
        if isinstance(called, str) and called:
            return called
    template, bracket, key = pod_set.name.rpartition(".")[2].partition("[")
    return key.removesuffix("]") if bracket and not key.removesuffix("]").isdecimal() else template


class GangChange(NamedTuple):
    """Changes to a gang that the controller of a kind creates."""

    patches: tuple[Patch, ...] = ()
    notes: tuple[str, ...] = ()


def controller_gang(data: Mapping[str, Any], pod_set: PodSet, kind: WorkloadKind) -> GangChange | None:
    """Changes to the gang that the controller of the object creates; None if it creates none."""
    gang = gang_of(data, pod_set)
    if gang is None or gang.scheduler or gang.path[-2:-1] == ("annotations",):
        return None
    if gang.enabled_by and not gang.enabled:
        if gang.enabled_by[-2:-1] == ("annotations",):
            return GangChange((Patch("add", gang.enabled_by, "true"),))
        return GangChange(notes=(f"its kind makes a gang only if {dotted(gang.enabled_by)} is set",))
    stated = kind.gang_rule.size if kind.gang_rule else None
    size = min(stated, gang.pods) if stated and gang.pods else stated or gang.pods
    unread = gang.written and gang.min_member is None
    if size is None or unread or not gang.path or gang.min_member == size:
        return GangChange()
    # Without a number, the controller counts the pods itself if it has a rule for that.
    counted = gang.min_member is not None and not gang.written and stated is None
    return GangChange() if counted else GangChange((size_patch(gang.path, size),))


def resized_gang(data: Mapping[str, Any], pod_set: PodSet, kind: WorkloadKind) -> GangChange:
    """Changes to a gang size that a field of the kind already sets; no size is added."""
    gang = gang_of(data, pod_set)
    found = controller_gang(data, pod_set, kind) if gang and gang.written else None
    return GangChange(found.patches) if found else GangChange()


def other_application(manifest: Manifest, pod_set: PodSet, target_name: str | None, fields: PodFields) -> str:
    """Application that the pods already name; empty: none, or the one in `fields`."""
    target = target_of(target_name)
    if target is None or not target.application_label:
        return ""
    named = queues.read(manifest.data, pod_set, target.name, "app")
    ours = fields.labels.get(target.application_label)
    return f"application {named.value}" if named and ours and named.value != ours else ""


def other_gang(manifest: Manifest, pod_set: PodSet, target_name: str | None, fields: PodFields) -> str:
    """Gang that the pods already name; empty: none, or the one in `fields`."""
    target = target_of(target_name)
    theirs = _membership(target, manifest, pod_set)
    if theirs is None:
        return ""
    ours = _membership(
        target, manifest, pod_set._replace(labels=fields.labels, annotations=fields.annotations)
    )
    return "" if ours and _same(ours, theirs) else f"gang {theirs.membership.group}"


def _same(ours: MembershipFact, theirs: MembershipFact) -> bool:
    """Whether both name one gang in the same place, or ours in a label, which Koordinator reads first."""
    if ours.membership.group != theirs.membership.group:
        return False
    return ours.group == theirs.group or ours.group[-2:-1] == ("labels",)


def _membership(target: Target | None, manifest: Manifest, pod_set: PodSet) -> MembershipFact | None:
    if target is None or target.read_membership is None:
        return None
    return target.read_membership(manifest, pod_set, "")
