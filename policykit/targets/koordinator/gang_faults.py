"""What is wrong with Koordinator's gang metadata, on pods and on their PodGroup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import whole
from policykit.model.severity import Severity
from policykit.targets.koordinator import names

_LONGEST_WAIT = 900
"""Seconds after which the scheduling framework ends every wait."""
_VERSION = f"{names.GROUP_API}/v1alpha1"
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    names.GANG_MODE: ("Strict", "NonStrict"),
    names.MATCH_POLICY: ("once-satisfied", "only-waiting", "waiting-and-running"),
}
"""Annotation to the values it may have; the first counts in place of any other."""
_OF_PODS_WITHOUT_GROUP = (
    names.GANG_NAME,
    names.MIN_AVAILABLE,
    names.TOTAL_NUMBER,
    names.GANG_MODE,
    names.MATCH_POLICY,
    names.WAITING_TIME,
    names.GANG_GROUPS,
)


def faults(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[Violation]:
    """Source: coscheduling `core/gang.go` of Koordinator 1.8."""
    if manifest.kind == "PodGroup" and manifest.group in (names.GROUP_API, ""):
        yield from _group(manifest)
    said: set[Path] = set()
    for pod_set in pod_sets:
        for found in _pods(manifest, pod_set):
            if found.path not in said:  # pod sets may share a template's metadata
                said.add(found.path)
                yield found


def _group(manifest: Manifest) -> Iterator[Violation]:
    annotations = manifest.annotations
    ours = any(key.startswith("gang.scheduling.koordinator.sh/") for key in annotations)
    if manifest.api_version != _VERSION and (manifest.group or manifest.api_version == "v1alpha1" or ours):
        yield Violation(
            ("apiVersion",),
            f"a PodGroup of {manifest.api_version or 'no apiVersion'} does not exist",
            f"write {_VERSION}",
        )
    seconds, path = (
        lookup(manifest.data, ("spec", "scheduleTimeoutSeconds")),
        ("spec", "scheduleTimeoutSeconds"),
    )
    if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds <= 0:
        yield Violation(
            path,
            f"scheduleTimeoutSeconds is {seconds}, and only a number above 0 is read: "
            "the scheduler's own time-out counts",
            "write the seconds to wait, or delete the line",
        )
    elif isinstance(seconds, int) and seconds > _LONGEST_WAIT:
        yield _too_long(path, seconds)
    minimum = whole(lookup(manifest.data, ("spec", "minMember")))
    yield from _shared(annotations, ("metadata", "annotations"), minimum)
    yield from _groups(annotations, ("metadata", "annotations"), manifest.namespace, manifest.name)


def _pods(manifest: Manifest, pod_set: PodSet) -> Iterator[Violation]:
    place = pod_set.places.get("annotations")
    if place is None:
        return
    annotations = texts(lookup(manifest.data, place))
    label = next((key for key in names.GROUP_LABELS if pod_set.labels.get(key)), "")
    if label:
        ignored = next((key for key in _OF_PODS_WITHOUT_GROUP if key in annotations), "")
        if ignored:
            yield Violation(
                (*place, ignored),
                f"{ignored} is not read: the label {label} makes the pods members of PodGroup "
                f"{pod_set.labels[label]}, which says all about the gang",
                "write it in the PodGroup, or delete the label and keep the annotations",
                Severity.WARNING,
                key=True,
            )
        return
    if not annotations.get(names.GANG_NAME):
        return
    minimum = annotations.get(names.MIN_AVAILABLE)
    if minimum is not None and not is_placeholder(minimum) and not _WHOLE.match(minimum):
        yield Violation(
            (*place, names.MIN_AVAILABLE),
            f"{names.MIN_AVAILABLE} is {minimum!r}, not a whole number: the gang never starts",
            "write the number of pods that start together, in quotes",
        )
    yield from _shared(annotations, place, int(minimum) if minimum and _WHOLE.match(minimum) else None)
    yield from _waiting(annotations, place)
    yield from _groups(annotations, place, manifest.namespace, annotations[names.GANG_NAME])


def _shared(annotations: Mapping[str, str], place: Path, minimum: int | None) -> Iterator[Violation]:
    """What pods without a PodGroup and a PodGroup say alike."""
    total = annotations.get(names.TOTAL_NUMBER)
    if total is not None and not is_placeholder(total):
        if not _WHOLE.match(total):
            what = "not a whole number"
        elif minimum is not None and int(total) < minimum:
            what = f"fewer than the {minimum} that start together"
        else:
            what = ""
        if what:
            yield Violation(
                (*place, names.TOTAL_NUMBER),
                f"{names.TOTAL_NUMBER} is {total}, {what}: it is not used",
                "write how many pods the gang has in all",
                Severity.WARNING,
            )
    for key, allowed in _CHOICES.items():
        written = annotations.get(key)
        if written and written not in allowed and not is_placeholder(written):
            yield Violation(
                (*place, key),
                f"{key} is {written!r}: {allowed[0]} counts in its place",
                f"write {' or '.join((', '.join(allowed[:-1]), allowed[-1]))}",
            )


def _waiting(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    from policykit.targets.koordinator.objects import durations

    written = annotations.get(names.WAITING_TIME)
    if not written or is_placeholder(written):
        return
    seconds = durations.seconds(written)
    if seconds is None:
        unit = f"write {written}s" if written.isdecimal() else "write a duration: 600s, 10m"
        yield Violation(
            (*place, names.WAITING_TIME),
            f"{names.WAITING_TIME} is {written!r}, not a duration with a unit: "
            "the scheduler's own time-out counts",
            unit,
        )
    elif seconds > _LONGEST_WAIT:
        yield _too_long((*place, names.WAITING_TIME), seconds)


def _too_long(path: Path, seconds: int) -> Violation:
    return Violation(
        path,
        f"the gang is to wait {seconds} seconds, but the scheduler ends every wait after {_LONGEST_WAIT}",
        f"write at most {_LONGEST_WAIT}: the gang tries again by itself",
        Severity.WARNING,
    )


def _groups(annotations: Mapping[str, str], place: Path, namespace: str, name: str) -> Iterator[Violation]:
    """The gangs that start with this one: JSON list of `namespace/name`, its own among them."""
    written = annotations.get(names.GANG_GROUPS)
    if not written or is_placeholder(written):
        return
    path = (*place, names.GANG_GROUPS)
    own = f"{namespace or 'NAMESPACE'}/{name}"
    try:
        listed: Any = json.loads(written)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        yield Violation(
            path,
            f"{names.GANG_GROUPS} is not a JSON list of texts: only the gang itself counts",
            f"""write it as '["{own}", "NAMESPACE/OTHER"]'""",
        )
        return
    for position, one in enumerate(listed):
        if one.count("/") != 1 or one.startswith("/") or one.endswith("/"):
            yield Violation(
                path,
                f"{one!r} in {names.GANG_GROUPS} names no gang: a gang is named NAMESPACE/NAME",
                f"write {namespace or 'NAMESPACE'}/{one.strip('/').rpartition('/')[2] or 'NAME'}",
                inside=(position,),
            )
    same = [
        one for one in listed if one.rpartition("/")[2] == name and namespace in ("", one.partition("/")[0])
    ]
    if listed and name and not is_placeholder(name) and not same:
        yield Violation(
            path,
            f"{names.GANG_GROUPS} leaves out the gang itself, {own}",
            "every gang of the group lists all of them, itself included",
            inside=(),
        )
