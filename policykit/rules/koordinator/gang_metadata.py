"""Koordinator's gang metadata on pods and PodGroups: what it ignores or cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit import durations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import whole
from policykit.model.severity import Severity
from policykit.rules.gangs.misspelt_keys import meant_by
from policykit.targets.koordinator import names
from policykit.targets.koordinator.objects.values import parsed
from policykit.targets.koordinator.pods import API_VERSION, NON_STRICT, STRICT
from policykit.targets.koordinator.scheduler.fields import LONGEST_WAIT

_PREFIX = "gang.scheduling.koordinator.sh/"
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    names.GANG_MODE: (STRICT, NON_STRICT),
    names.MATCH_POLICY: ("once-satisfied", "only-waiting", "waiting-and-running"),
}
"""Annotation to its allowed values; the first is the default."""
_POD_GANG_KEYS = (
    names.GANG_NAME,
    names.MIN_AVAILABLE,
    names.TOTAL_NUMBER,
    names.GANG_MODE,
    names.MATCH_POLICY,
    names.WAITING_TIME,
    names.GANG_GROUPS,
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: coscheduling `core/gang.go` of Koordinator 1.8."""
    if manifest.kind == "PodGroup" and manifest.group in (names.GROUP_API, ""):
        yield from _group(manifest)
    sets = pod_sets(manifest.data)
    seen: set[Path] = set()
    for pod_set in sets:
        for found in _pods(manifest, pod_set):
            if found.path not in seen:  # pod sets may share a template's metadata
                seen.add(found.path)
                yield found


def _group(manifest: Manifest) -> Iterator[Violation]:
    annotations = manifest.annotations
    ours = any(key.startswith(_PREFIX) for key in annotations)
    if manifest.api_version != API_VERSION and (manifest.group or manifest.api_version == "v1alpha1" or ours):
        yield Violation(
            ("apiVersion",),
            f"no PodGroup exists in {manifest.api_version or 'an empty apiVersion'}",
            f"write {API_VERSION}",
        )
    path = ("spec", "scheduleTimeoutSeconds")
    seconds = whole(lookup(manifest.data, path))
    if seconds is not None and seconds <= 0:
        yield Violation(
            path,
            f"scheduleTimeoutSeconds is {seconds}, not a number above 0: the scheduler's default timeout "
            "applies",
            "write a number of seconds, or delete the line",
        )
    elif seconds is not None and seconds > LONGEST_WAIT:
        yield _too_long(path, seconds)
    minimum = whole(lookup(manifest.data, ("spec", "minMember")))
    yield from _common(annotations, ("metadata", "annotations"), minimum)
    yield from _group_list(annotations, ("metadata", "annotations"), manifest.namespace, manifest.name)


def _gang_without_name(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    """Annotations of a gang that pods do not join."""
    if names.GANG_NAME in annotations or any(meant_by(key) == names.GANG_NAME for key in annotations):
        return
    lone = next((key for key in (names.MIN_AVAILABLE, names.TOTAL_NUMBER) if key in annotations), "")
    if lone:
        yield Violation(
            (*place, lone),
            f"{lone} has no effect: {names.GANG_NAME} does not say which gang the pods join",
            f"add the annotation {names.GANG_NAME}",
            Severity.WARNING,
            key=True,
        )


def _pods(manifest: Manifest, pod_set: PodSet) -> Iterator[Violation]:
    place = pod_set.places.get("annotations")
    if place is None:
        return
    annotations = texts(lookup(manifest.data, place))
    label = next((key for key in names.GROUP_LABELS if pod_set.labels.get(key)), "")
    if label:
        ignored = next((key for key in _POD_GANG_KEYS if key in annotations), "")
        if ignored:
            yield Violation(
                (*place, ignored),
                f"{ignored} is ignored: the label {label} makes the pods members of PodGroup "
                f"{pod_set.labels[label]}, which defines the gang",
                "set it on the PodGroup, or delete the label and keep the annotations",
                Severity.WARNING,
                key=True,
            )
        return
    if not annotations.get(names.GANG_NAME):
        yield from _gang_without_name(annotations, place)
        return
    minimum = annotations.get(names.MIN_AVAILABLE)
    if minimum is not None and not is_placeholder(minimum) and not _WHOLE.match(minimum):
        yield Violation(
            (*place, names.MIN_AVAILABLE),
            f"{names.MIN_AVAILABLE} is {minimum!r}, not a whole number: the gang never starts",
            "write the number of pods that must start together, in quotes",
        )
    yield from _common(annotations, place, int(minimum) if minimum and _WHOLE.match(minimum) else None)
    yield from _wait_time(annotations, place)
    yield from _group_list(annotations, place, manifest.namespace, annotations[names.GANG_NAME])


def _common(annotations: Mapping[str, str], place: Path, minimum: int | None) -> Iterator[Violation]:
    """Annotations that pods and PodGroups have in common."""
    total = annotations.get(names.TOTAL_NUMBER)
    if total is not None and not is_placeholder(total):
        if not _WHOLE.match(total):
            reason = "not a whole number"
        elif minimum is not None and int(total) < minimum:
            reason = f"fewer than the {minimum} pods that start together"
        else:
            reason = ""
        if reason:
            yield Violation(
                (*place, names.TOTAL_NUMBER),
                f"{names.TOTAL_NUMBER} is {total}, {reason}: it is ignored",
                "write the total number of pods of the gang",
                Severity.WARNING,
            )
    for key, allowed in _CHOICES.items():
        written = annotations.get(key)
        if written and written not in allowed and not is_placeholder(written):
            yield Violation(
                (*place, key),
                f"{key} is {written!r}, which Koordinator does not know: {allowed[0]} applies",
                f"write {' or '.join((', '.join(allowed[:-1]), allowed[-1]))}",
            )


def _wait_time(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    written = annotations.get(names.WAITING_TIME)
    if not written or is_placeholder(written):
        return
    seconds = durations.seconds(written)
    if seconds is None:
        yield Violation(
            (*place, names.WAITING_TIME),
            f"{names.WAITING_TIME} is {written!r}, not a duration with a unit: the scheduler's default "
            "timeout applies",
            f"write {written}s" if written.isdecimal() else "write a duration: 600s, 10m",
        )
    elif seconds > LONGEST_WAIT:
        yield _too_long((*place, names.WAITING_TIME), seconds)


def _too_long(path: Path, seconds: int) -> Violation:
    return Violation(
        path,
        f"the gang may wait {seconds} seconds, but the scheduler ends every wait after {LONGEST_WAIT}",
        f"write at most {LONGEST_WAIT}: the gang is retried automatically",
        Severity.WARNING,
    )


def _group_list(
    annotations: Mapping[str, str], place: Path, namespace: str, name: str
) -> Iterator[Violation]:
    """The gangs that start together: a JSON list of `namespace/name`, including this one."""
    written = annotations.get(names.GANG_GROUPS)
    if not written or is_placeholder(written):
        return
    path = (*place, names.GANG_GROUPS)
    own = f"{namespace or 'NAMESPACE'}/{name}"
    listed = parsed(written)
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        yield Violation(
            path,
            f"{names.GANG_GROUPS} is not a JSON list of strings: the gang starts on its own",
            f"""write it as '["{own}", "NAMESPACE/OTHER"]'""",
        )
        return
    for position, one in enumerate(listed):
        if one.count("/") != 1 or one.startswith("/") or one.endswith("/"):
            yield Violation(
                path,
                f"{one!r} in {names.GANG_GROUPS} is not the name of a gang, NAMESPACE/NAME",
                f"write {namespace or 'NAMESPACE'}/{one.strip('/').rpartition('/')[2] or 'NAME'}",
                inside=(position,),
            )
    included = any(
        one.rpartition("/")[2] == name and namespace in ("", one.partition("/")[0]) for one in listed
    )
    if listed and name and not is_placeholder(name) and not included:
        yield Violation(
            path,
            f"{names.GANG_GROUPS} does not include the gang itself, {own}",
            "list all gangs of the group in each of them",
            inside=(),
        )
