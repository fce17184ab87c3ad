"""The queue of a pod set for a scheduler, and other names the scheduler reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.podsets.kind_entry import Binding, FieldRef, KindEntry, literal, value
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.table import entry
from policykit.manifests.memoize import memoize_last_call
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple


class Selection(NamedTuple):
    """A name as written, and its path."""

    value: str
    path: Path
    """Relative to the object that `pod_sets` was given."""


def read(data: Mapping[str, Any], pod_set: PodSet, scheduler: str, what: str = "queue") -> Selection | None:
    """What is written for `scheduler` (volcano, kueue, yunikorn, koordinator, kai, koord-queue).

    `what` is queue, or where the scheduler reads more: app, group, groups, size, gang. The first
    place that is set counts. None: nothing written, or the kind offers this scheduler nothing.
    """
    for path in _places(data, pod_set, scheduler, what):
        found = value(data, path)
        if isinstance(found, str) and found:
            return Selection(found, path)
    return None


def places(data: Mapping[str, Any], pod_set: PodSet, scheduler: str, what: str = "queue") -> tuple[Path, ...]:
    """Every location in the object that the scheduler reads, in order of precedence."""
    return tuple(_places(data, pod_set, scheduler, what))


def _places(data: Mapping[str, Any], pod_set: PodSet, scheduler: str, what: str) -> Iterator[Path]:
    known, binding = _kind(data, pod_set)
    for target in _targets(known, scheduler, what) if known is not None else ():
        ignored = target.unless and value(data, (*pod_set.owner, *target.unless))
        if not ignored and (path := _place(target, pod_set, binding)):
            yield path


@memoize_last_call  # every scheduler is asked for
def _kind(data: Mapping[str, Any], pod_set: PodSet) -> tuple[KindEntry | None, Binding]:
    owner = value(data, pod_set.owner)
    known = entry(owner.get("apiVersion"), owner.get("kind")) if isinstance(owner, dict) else None
    return known, _binding(known, pod_set) if known else Binding((), ())


def _targets(known: KindEntry, scheduler: str, what: str) -> tuple[FieldRef, ...]:
    return (known.queues.get(scheduler) or {}).get(what, ())


def _binding(known: KindEntry, pod_set: PodSet) -> Binding:
    """The match that the pod set came from, found again by its path."""
    path = pod_set.path[len(pod_set.owner) :]
    return next(_bound(known, path), Binding((), ()))


def _bound(known: KindEntry, path: Path) -> Iterator[Binding]:
    for template in known.templates:
        if template.makes_pods and len(template.path) == len(path):
            steps = zip(template.path, path, strict=True)
            if all(mine == its or not isinstance(mine, str) for mine, its in steps):
                yield Binding(template.path, path)


def _place(target: FieldRef, pod_set: PodSet, binding: Binding) -> Path:
    if target.form in ("pod_label", "pod_annotation"):
        where = pod_set.places.get(f"{target.form[4:]}s")
        return (*where, target.key) if where is not None else ()
    if not target.place:
        return ()
    return (*pod_set.owner, *literal(binding.bound(target.place)))
