"""Reads the facts of a manifest, for rules about whole scopes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import autoscaling
from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.gang_units import minimum_scope
from policykit.kube.podsets import Gang, PodSet, gangs
from policykit.linter.location import LocatedObject
from policykit.linter.rule import Context
from policykit.linter.scope import AnyFact, Fact, LocatedFact, UnreadableText
from policykit.linter.target import Target, Targets
from policykit.manifests.document import Manifest, words, wrapped_objects
from policykit.manifests.path import Path, lookup
from policykit.model.gang import OwnGang

_WORD = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?")
"""A possible name of an object or queue."""
_MAX_WORDS = 5_000
_GROUP_FIELDS: Mapping[str, Path] = {"name": ("metadata", "name"), "min_member": ("spec", "minMember")}


def facts_of(
    located: LocatedObject, pod_sets: Sequence[PodSet], targets: Targets, context: Context
) -> list[AnyFact]:
    """The facts of one manifest; the context has its file and default namespace."""
    manifest = located.manifest
    found = [] if manifest.read_as else [*_about_gangs(located, pod_sets, targets, context)]
    for reader in targets.readers_of(manifest.kind, bool(pod_sets)):
        for fact in reader.read.load()(manifest, pod_sets, context):
            found.append(_locate(fact, located, context.path))
    return found


def unreadable(text: str) -> UnreadableText:
    """The words in a document that cannot be interpreted."""
    found = frozenset(_WORD.findall(text))
    return UnreadableText(found if len(found) <= _MAX_WORDS else None)


def _about_gangs(
    located: LocatedObject, pod_sets: Sequence[PodSet], known: Targets, context: Context
) -> Iterator[AnyFact]:
    manifest, namespace, targets = located.manifest, context.namespace, known.targets
    if (scaler := autoscaling.read(manifest, namespace)) is not None:
        yield scaler
    wrapped = wrapped_objects(manifest, "PodGroup") if known.may_have_groups else ()
    groups = (manifest,) if manifest.kind == "PodGroup" else wrapped
    labelled = [each for each in pod_sets if each.labels or each.annotations]
    for target in targets if groups or labelled else ():
        for each in groups if target.read_group else ():
            if target.read_group and (group := target.read_group(each, manifest.namespace or namespace)):
                about = located._replace(manifest=each)
                yield _locate(Fact(group, _GROUP_FIELDS), about, context.path)
        for pod_set in labelled if target.read_membership else ():
            if target.read_membership and (joined := target.read_membership(manifest, pod_set, namespace)):
                places = {"group": joined.group, "min_member": joined.min_member}
                yield _locate(Fact(joined.membership, places), located, context.path)
    if pod_sets:
        for gang, place in _oversized_gangs(manifest, pod_sets, targets, namespace):
            yield _locate(Fact(gang, {"min_member": place}), located, context.path)
    elif wrapped or _joins_unseen(manifest, targets):
        yield UnreadableText(words(manifest.data).texts)


def _joins_unseen(manifest: Manifest, targets: Sequence[Target]) -> bool:
    """Whether an object of an unknown kind contains metadata of pods that join a gang."""
    if "." not in manifest.group or manifest.group.endswith("k8s.io") or manifest.kind == "PodGroup":
        return False
    keys = (key.key for target in targets for key in target.keys if key.purpose == "gang")
    return not words(manifest.data).keys.isdisjoint(keys)


def _locate(fact: Fact, located: LocatedObject, path: str) -> LocatedFact[Any]:
    inside = fact.inside
    fields = {name: located.place(place, inside=inside.get(name)) for name, place in fact.places.items()}
    about = (located.document, located.resource, fields, located.manifest.partial)
    return LocatedFact(fact.value, path, *about, fact.answers, fact.as_written)


def _oversized_gangs(
    manifest: Manifest, pod_sets: Sequence[PodSet], targets: Iterable[Target], namespace: str
) -> Iterator[tuple[OwnGang, Path]]:
    """Each minimum above the number of pods that can meet it, with its path. Unknown numbers are ignored."""
    scalable = manifest.kind in POD_PER_REPLICA
    if manifest.partial or (scalable and not _annotated(manifest, targets)):
        return
    in_namespace = manifest.namespace or namespace
    for gang in gangs(manifest.data):
        if gang.written and gang.enabled and _is_read(gang, pod_sets, targets):
            pods = _before_it_starts(manifest, gang, pod_sets)
            if gang.min_member is not None and pods is not None and gang.min_member > pods:
                yield (
                    OwnGang(
                        in_namespace,
                        f"the gang of this {manifest.kind}",
                        gang.min_member,
                        pods,
                        scalable,
                    ),
                    gang.path,
                )
        for minimum in gang.minima:
            found = minimum_scope(manifest, minimum, pod_sets)
            if minimum.value is not None and found.available is not None and minimum.value > found.available:
                yield (
                    OwnGang(in_namespace, found.name, minimum.value, found.available, counted=found.unit),
                    minimum.path,
                )


def _annotated(manifest: Manifest, targets: Iterable[Target]) -> bool:
    """Whether an annotation states a gang, the only way for controllers of long-running pods."""
    written = manifest.metadata.get("annotations")
    return isinstance(written, dict) and any(k.key in written for t in targets for k in t.keys if k.on_owner)


def _is_read(gang: Gang, pod_sets: Sequence[PodSet], targets: Iterable[Target]) -> bool:
    """Whether the pods' scheduler reads the size, which may be under a key of another scheduler."""
    key = gang.path[-1] if gang.path else ""
    readers = [t for t in targets if any(k.key == key for k in t.keys)]
    if not readers:
        return True
    return any(p.scheduler_name in t.schedulers for p in pod_sets if p.name in gang.members for t in readers)


def _before_it_starts(manifest: Manifest, gang: Gang, pod_sets: Sequence[PodSet]) -> int | None:
    """Pods that exist before the gang is complete: an MPI launcher may wait for the workers."""
    waits = lookup(manifest.data, ("spec", "launcherCreationPolicy")) == "WaitForWorkersReady"
    if manifest.kind == "MPIJob" and waits and gang.pods is not None:
        return gang.pods - sum(p.replicas or 0 for p in pod_sets if p.name == "launcher")
    return gang.pods
