"""The pods of an object that start together, in the form that the targets read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube import requests
from policykit.kube.podsets import Gang, PodSet, gangs
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.pod_fields import JobPods, PodContext
from policykit.placement.owner import owner

_UNFIT = re.compile(r"[^a-z0-9-]+")
_NAMES = ("name", "groupName")
"""Fields by which an item of a list of templates is called: a task, a worker group."""
_WHOLE = frozenset({"JobSet"})
"""Kinds whose child jobs are parts of one job, although each may be a gang of its own."""


def pods(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> PodContext:
    """The pod set among those that start with it; `sets` are all of the object's, placement applied.

    An object may make several jobs of several pods: all but the first are distinguished by name.
    """
    made_by = owner(manifest, pod_set)
    job = _job(manifest, pod_set, sets)
    names = _names(manifest.data, job)
    members = tuple(_members(one, name) for one, name in zip(job, names, strict=True))
    mine = next((name for one, name in zip(job, names, strict=True) if one.path == pod_set.path), "")
    name = made_by.name
    first = next(one for one in sets if one.owner == pod_set.owner)
    if name and first not in job and not too_few_pods(members):
        name = f"{name}-{_plain(manifest.data, job[0])}"
    return PodContext(name, made_by.kind, made_by.namespace, mine, members)


def too_few_pods(job: Sequence[JobPods]) -> bool:
    """Whether there is nothing to start together: one pod, or none."""
    numbers = [one.replicas for one in job]
    return None not in numbers and sum(number or 0 for number in numbers) < 2


def makes_several_gangs(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> bool:
    """Whether the object makes several gangs that its one template cannot tell apart."""
    gang = gang_of(manifest.data, pod_set)
    if gang is None or gang.pods is None or owner(manifest, pod_set).kind in _WHOLE:
        return False
    together = [one.replicas for one in sets if _counts(one, gang)]
    return None not in together and sum(number or 0 for number in together) > gang.pods > 0


def shares_annotations(pod_set: PodSet, sets: Sequence[PodSet]) -> bool:
    """Whether other pod sets take their annotations from the same place."""
    place = pod_set.places.get("annotations")
    return any(one.path != pod_set.path and one.places.get("annotations") == place for one in sets)


def gang_of(data: Mapping[str, Any], pod_set: PodSet) -> Gang | None:
    """The gang that the kind of the object gives a pod set."""
    return next((one for one in gangs(data) if _counts(pod_set, one)), None)


def _counts(pod_set: PodSet, gang: Gang) -> bool:
    """Variants of a template have its name as a prefix."""
    return any(pod_set.name == name or pod_set.name.startswith(f"{name}.") for name in gang.members)


def _job(manifest: Manifest, pod_set: PodSet, sets: Sequence[PodSet]) -> list[PodSet]:
    """Pod sets of its gang: the pod that submits a Ray job is none. Without one: all of its owner's."""
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
    """Unique names; a single pod set needs none."""
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
