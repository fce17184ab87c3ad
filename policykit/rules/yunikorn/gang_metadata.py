"""YuniKorn's gang metadata: the JSON of the task groups, and their pods."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import requests, tolerations
from policykit.kube.affinity import REQUIRED
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import amount_text, parse
from policykit.model.severity import Severity
from policykit.targets.yunikorn.configuration.values import contains_placeholder
from policykit.targets.yunikorn.metadata import TaskGroupEntry, read_task_groups
from policykit.targets.yunikorn.names import PARAMETERS, TASK_GROUP_NAME, TASK_GROUPS

TIMEOUT, STYLE = "placeholderTimeoutInSeconds", "gangSchedulingStyle"
STYLES = ("Soft", "Hard")
_SHAPES: Mapping[str, type] = {
    "labels": dict,
    "annotations": dict,
    "nodeselector": dict,
    "tolerations": list,
    "affinity": dict,
    "topologyspreadconstraints": list,
}
_LARGEST = 2**31 - 1
_REQUIRED = ("affinity", "nodeAffinity", REQUIRED)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `GetTaskGroupsFromAnnotation` and `gang_utils.go` of the shim (1.9)."""
    seen: set[Path] = set()
    for pod_set in pod_sets(manifest.data):
        place = pod_set.places.get("annotations")
        if place is None or place in seen:
            continue
        seen.add(place)
        annotations = texts(lookup(manifest.data, place))
        yield from _parameters(annotations, place)
        written = annotations.get(TASK_GROUPS)
        if written is None or is_placeholder(written):
            continue
        path = (*place, TASK_GROUPS)
        found = list(_faults_of_list(written, path))
        yield from found
        if not found:
            yield from _member(annotations, place, read_task_groups(written), pod_set)
    yield from _ray(manifest)


_LOST = "the application starts without a gang"
_GROUPS = """write '[{"name": ..., "minMember": ..., "minResource": {...}}]'"""


def _faults_of_list(written: str, path: Path) -> Iterator[Violation]:
    try:
        listed = json.loads(written)
    except json.JSONDecodeError as error:
        yield Violation(
            path,
            f"{TASK_GROUPS} is not JSON ({error.msg}, line {error.lineno}, column {error.colno} "
            f"of the text): {_LOST}",
            "in JSON, names and strings need double quotes, and the last item has no comma after it",
            part=_one_character(written, error.pos),
        )
        return
    except RecursionError:
        yield Violation(path, f"{TASK_GROUPS} is nested too deep to be read: {_LOST}", _GROUPS)
        return
    except ValueError:  # a number with more digits than anybody reads
        listed = None
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        yield Violation(
            path,
            f"{TASK_GROUPS} is JSON, but not a list of groups: {_LOST}",
            _GROUPS,
            inside=(),
        )
        return
    for group in read_task_groups(written):
        yield from _faults_of_group(group, path)


def _one_character(written: str, at: int) -> tuple[int, int] | None:
    """The character at an offset, the last one where the text ends too early."""
    start = min(at, len(written) - 1)
    return (start, start + 1) if written else None


def _faults_of_group(group: TaskGroupEntry, path: Path) -> Iterator[Violation]:
    named = f"task group {group.name}" if group.name else f"item {group.position + 1} of the task groups"
    if not group.name:
        yield Violation(path, f"{named} has no name: {_LOST}", "name it", inside=group.inside("name"))
    elif is_placeholder(group.name):
        return
    members = group.fields.get("minmember")
    if isinstance(members, bool) or not isinstance(members, int) or not 0 < members <= _LARGEST:
        has = (
            "no minMember" if members is None else f"minMember {_shown(members)}, not a whole number above 0"
        )
        yield Violation(
            path,
            f"{named} has {has}: {_LOST}",
            "write how many pods of this group start together, unquoted",
            inside=group.inside("minmember"),
        )
    resources = group.fields.get("minresource")
    if not isinstance(resources, dict):
        yield Violation(
            path,
            f"{named} has {'no minResource' if resources is None else 'a minResource that is not a map'}: "
            f"{_LOST}",
            "write what one pod of the group requests: cpu, memory, cards",
            inside=group.inside("minresource"),
        )
    else:
        yield from _faults_of_resources(group, named, resources, path)
    for field, shape in _SHAPES.items():
        value = group.fields.get(field)
        if value is not None and not isinstance(value, shape):
            what = "a map" if shape is dict else "a list"
            yield Violation(
                path,
                f"{group.written[field]} of {named} is not {what}: {_LOST}",
                f"write it as in a pod spec: {what}",
                inside=group.inside(field),
            )


def _faults_of_resources(
    group: TaskGroupEntry, named: str, resources: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for resource, amount in resources.items():
        inside = (*group.inside("minresource"), resource)
        if resource == "vcore":
            yield Violation(
                path,
                f"minResource of {named} names vcore, which pods cannot request: no placeholder is created",
                "write cpu: a placeholder is a pod",
                inside=inside,
            )
        elif not is_placeholder(amount) and (isinstance(amount, bool) or not _is_quantity(amount)):
            yield Violation(
                path,
                f"{resource} in minResource of {named} is {_shown(amount)}, not a quantity: {_LOST}",
                "write a quantity as in a pod's requests: 500m, 16Gi, 8",
                inside=inside,
            )


def _is_quantity(amount: object) -> bool:
    return isinstance(amount, (str, int, float)) and parse(amount) is not None


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]


def _member(
    annotations: Mapping[str, str], place: Path, listed: Sequence[TaskGroupEntry], pod_set: PodSet
) -> Iterator[Violation]:
    """The group that the pods with this list belong to."""
    name = annotations.get(TASK_GROUP_NAME)
    if not name or is_placeholder(name):
        return
    path = (*place, TASK_GROUPS)
    group = next((each for each in listed if each.name == name), None)
    if group is None:
        known = ", ".join(each.name for each in listed)
        yield Violation(
            (*place, TASK_GROUP_NAME),
            f"the pods are in task group {name}, which {TASK_GROUPS} does not list"
            f"{f' (it lists {known})' if known else ''}: no placeholders are created for them",
            "use the same name in both",
        )
        return
    yield from _differences(group, path, pod_set)


def _differences(group: TaskGroupEntry, path: Path, pod_set: PodSet) -> Iterator[Violation]:
    """`path` leads to the annotation. Placeholders that differ from the pods reserve the wrong nodes."""
    yield from _smaller(group, path, pod_set)
    yield from _elsewhere(group, path, pod_set)


def _smaller(group: TaskGroupEntry, path: Path, pod_set: PodSet) -> Iterator[Violation]:
    listed = group.fields.get("minresource")
    if not isinstance(listed, dict) or any(is_placeholder(each) for each in listed.values()):
        return
    held = requests.amounts(listed)
    asked = requests.effective(pod_set.spec, pod_set.devices)
    for resource in sorted(asked, key=lambda name: ("/" not in name, name)):
        if asked[resource] > held.get(resource, 0):
            there = amount_text(resource, held[resource]) if resource in held else "none"
            inside = (*group.inside("minresource"), *((resource,) if resource in listed else ()))
            yield Violation(
                path,
                f"a pod of task group {group.name} requests {amount_text(resource, asked[resource])} "
                f"{resource}, but its minResource has {there}: the group's placeholders are released",
                f"write {amount_text(resource, asked[resource])}",
                inside=inside,
            )
            return


def _elsewhere(group: TaskGroupEntry, path: Path, pod_set: PodSet) -> Iterator[Violation]:
    spec = pod_set.spec
    pairs = (
        (
            "nodeselector",
            "nodeSelector",
            group.fields.get("nodeselector") or {},
            spec.get("nodeSelector") or {},
        ),
        ("tolerations", "tolerations", _tolerated(group.fields), _tolerated(spec)),
        ("affinity", "required node affinity", lookup(group.fields, _REQUIRED), lookup(spec, _REQUIRED)),
    )
    for field, what, held, asked in pairs:
        if held == asked or contains_placeholder(asked) or contains_placeholder(held):
            continue
        if not asked:
            differs = f"has {what} that its pods lack"
        elif not held:
            differs = f"lacks {what} that its pods have"
        else:
            differs = f"has different {what} than its pods"
        yield Violation(
            path,
            f"task group {group.name} {differs}: its placeholders may run where the pods cannot",
            f"use the same {what} in the group and in the pods",
            Severity.WARNING,
            inside=group.inside(field),
        )


def _tolerated(data: Mapping[str, Any]) -> frozenset[object]:
    return frozenset(
        each._replace(operator="" if each.operator == "Equal" else each.operator)
        for each in tolerations.read(data.get("tolerations"))
    )


def _parameters(annotations: Mapping[str, str], place: Path) -> Iterator[Violation]:
    written = annotations.get(PARAMETERS)
    if not written or is_placeholder(written):
        return
    path = (*place, PARAMETERS)
    for part in written.split():
        key, equals, value = part.partition("=")
        if not equals or key not in (TIMEOUT, STYLE):
            near = TIMEOUT if "timeout" in key.lower() else STYLE if "style" in key.lower() else ""
            yield Violation(
                path,
                f"{PARAMETERS} contains {part!r}, which YuniKorn does not read",
                f"write {near}" if near else f"it reads {TIMEOUT}=SECONDS and {STYLE}=Soft or Hard",
                Severity.WARNING,
            )
        elif key == STYLE and value not in STYLES:
            yield Violation(
                path,
                f"{STYLE} is {value!r}: anything but Hard means Soft",
                f"write {STYLE}={'Hard' if value.lower() == 'hard' else 'Soft'}",
                Severity.WARNING,
            )
        elif key == TIMEOUT and not (value.isascii() and value.isdecimal() and value.strip("0")):
            yield Violation(
                path,
                f"{TIMEOUT} is {value!r}, not a number above 0: YuniKorn uses 900 seconds",
                "write the seconds without a unit",
                Severity.WARNING,
            )


_GANG_LABEL = "ray.io/gang-scheduling-enabled"
_RAY = {
    "RayCluster": ("spec",),
    "RayJob": ("spec", "rayClusterSpec"),
    "RayService": ("spec", "rayClusterConfig"),
}


def _ray(manifest: Manifest) -> Iterator[Violation]:
    """KubeRay (1.7) makes minMember of a worker group from minReplicas: with 0 the whole list is invalid."""
    labels = manifest.labels
    ours = any(key.startswith("yunikorn.apache.org/") for key in labels)
    if manifest.group != "ray.io" or manifest.partial or _GANG_LABEL not in labels or not ours:
        return
    base = _RAY.get(manifest.kind)
    listed = lookup(manifest.data, (*base, "workerGroupSpecs")) if base else None
    for position, group in enumerate(listed if isinstance(listed, list) else ()):
        least = group.get("minReplicas") if isinstance(group, dict) else 1
        if least == 0 or least is None:
            yield Violation(
                (*(base or ()), "workerGroupSpecs", position, "minReplicas"),
                f"minReplicas of worker group {group.get('groupName', position)} is "
                f"{'missing, which means 0' if least is None else 0}: a task group of 0 members is invalid, "
                "so YuniKorn drops the whole gang",
                "write the number of workers that must start together",
            )
