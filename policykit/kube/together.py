"""How many pods of an object wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from policykit.kube.instances import instance_sizes
from policykit.kube.podsets import PodSet, gangs
from policykit.manifests.document import Manifest


class Unit(NamedTuple):
    """Pods that start and stop together: a whole object, or one of several groups or instances of it."""

    pods: int
    """Those of the workers, in one such unit."""
    worker: PodSet
    """The first of them."""


def largest(manifest: Manifest, sets: Sequence[PodSet], workers: Sequence[PodSet]) -> Unit | None:
    """The largest unit that has some of the workers, which are some of the object's sets.

    None where there is none, or a number is not known. Of serving roles the instances are the units.
    """
    if any(one.replicas is None for one in sets):
        return None
    units = [
        Unit(_pods(theirs) * min(size, every) // every, theirs[0])
        for size, members in _groups(manifest, sets)
        if (theirs := [one for one in workers if one in members]) and (every := _pods(members))
    ]
    return max(units, key=lambda unit: unit.pods, default=None)


def _groups(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[tuple[int, Sequence[PodSet]]]:
    """(pods of one, its pod sets) for units that are alike; a role whose size is not known is none."""
    sizes = instance_sizes(manifest)
    if sizes is not None:
        for role, size in sizes.items():
            yield size or 0, [one for one in sets if one.path[: len(role)] == role]
        return
    found = gangs(manifest.data)
    # The jobs of a JobSet run together, whatever gangs they may be.
    if manifest.kind == "JobSet" or not found or any(gang.pods is None for gang in found):
        yield _pods(sets), sets
        return
    for gang in found:
        yield gang.pods or 0, [one for one in sets if one.name in gang.members]


def _pods(sets: Sequence[PodSet]) -> int:
    return sum(one.replicas or 0 for one in sets)
