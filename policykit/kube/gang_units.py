"""Units of an object whose pods start and stop together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.kube.instances import instance_sizes
from policykit.kube.podsets import PodSet, gangs
from policykit.manifests.document import Manifest


class GangUnit(NamedTuple):
    """Pods that start and stop together: a whole object, or one of several groups or instances of it."""

    pods: int
    """Worker pods in one unit."""
    worker: PodSet
    """First pod set of the workers."""


def largest_unit(manifest: Manifest, sets: Sequence[PodSet], workers: Sequence[PodSet]) -> GangUnit | None:
    """The largest unit that contains workers; None: there is none, or a number is unknown.

    `workers` are some of the object's pod sets. For serving roles the units are the instances.
    """
    if any(one.replicas is None for one in sets):
        return None
    units = [
        GangUnit(_pods(theirs) * min(size, every) // every, theirs[0])
        for size, members in _groups(manifest, sets)
        if (theirs := [one for one in workers if one in members]) and (every := _pods(members))
    ]
    return max(units, key=lambda unit: unit.pods, default=None)


def _groups(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[tuple[int, Sequence[PodSet]]]:
    """(pods of one, its pod sets) for each group of equal units; a role of unknown size counts as 0."""
    sizes = instance_sizes(manifest)
    if sizes is not None:
        for role, size in sizes.items():
            yield size or 0, [one for one in sets if one.path[: len(role)] == role]
        return
    found = gangs(manifest.data)
    # The jobs of a JobSet run together, even if they are separate gangs.
    if manifest.kind == "JobSet" or not found or any(gang.pods is None for gang in found):
        yield _pods(sets), sets
        return
    for gang in found:
        yield gang.pods or 0, [one for one in sets if one.name in gang.members]


def _pods(sets: Sequence[PodSet]) -> int:
    return sum(one.replicas or 0 for one in sets)
