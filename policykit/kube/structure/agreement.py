"""Values of one object that must agree with each other: names of containers, labels that a selector wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.problem import DISAGREEING, UNMET, Problem
from policykit.kube.structure.scalars import is_filled_in, is_placeholder
from policykit.manifests.path import Path, dotted, lookup

_PODS: Mapping[tuple[str, str], Path] = {
    ("v1", "Pod"): ("spec",),
    ("v1", "PodTemplate"): ("template", "spec"),
    ("v1", "ReplicationController"): ("spec", "template", "spec"),
    ("apps/v1", "DaemonSet"): ("spec", "template", "spec"),
    ("apps/v1", "Deployment"): ("spec", "template", "spec"),
    ("apps/v1", "ReplicaSet"): ("spec", "template", "spec"),
    ("apps/v1", "StatefulSet"): ("spec", "template", "spec"),
    ("batch/v1", "Job"): ("spec", "template", "spec"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
}
"""PodSpecs of the kinds that the API server itself judges to the last field."""
_SELECTING = "apps/v1"
"""All controllers of this version must select their own pods."""
_SELECTOR: Path = ("spec", "selector", "matchLabels")
_LABELS: Path = ("spec", "template", "metadata", "labels")
_LISTS = ("initContainers", "containers", "ephemeralContainers")


def disagreements(data: dict[str, Any], api_version: str, kind: str) -> Iterator[Problem]:
    """What the API server refuses though each value is right by itself. Placeholders may be anything.

    Source: `ValidatePodSpec` and the validation of apps/v1 (v1.36).
    """
    path = _PODS.get((api_version, kind))
    if path is None:
        return
    spec = lookup(data, path)
    if isinstance(spec, dict):
        yield from _names(spec, path)
        yield from _claims(spec, path)
        yield from _mounts(spec, path, data)
    if api_version == _SELECTING:
        yield from _selected(data)


def _names(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """One name for each container of a pod, init containers among them."""
    first: dict[str, Path] = {}
    said: set[str] = set()
    for field in _LISTS:
        listed = spec.get(field)
        for position, container in enumerate(listed if isinstance(listed, list) else ()):
            name = container.get("name") if isinstance(container, dict) else None
            if not isinstance(name, str) or not name or is_placeholder(name):
                continue
            if name in first and name not in said:
                said.add(name)
                place = (*path, field, position, "name")
                message = f'{dotted(place)} is "{name}", the name of {dotted(first[name])} too'
                yield Problem(place, DISAGREEING, message, "give each container of the pod a name of its own")
            first.setdefault(name, (field, position))


def _claims(spec: dict[str, Any], path: Path) -> Iterator[Problem]:
    """A container uses claims of its pod, by name."""
    there = _names_in(spec.get("resourceClaims"))
    if there is None:
        return
    for place, container in _containers(spec, path):
        for position, name in _items(lookup(container, ("resources", "claims"))):
            if name not in there:
                at = (*place, "resources", "claims", position, "name")
                message = f'{dotted(at)} is "{name}", no claim of the pod{_known(there)}'
                yield Problem(at, DISAGREEING, message, f"list {name} in {dotted((*path, 'resourceClaims'))}")


def _mounts(spec: dict[str, Any], path: Path, data: dict[str, Any]) -> Iterator[Problem]:
    """A container mounts volumes of its pod, by name, or those that a StatefulSet makes for it."""
    made = lookup(data, ("spec", "volumeClaimTemplates"))
    templates = [
        each.get("metadata") if isinstance(each, dict) else None
        for each in (made if isinstance(made, list) else ())
    ]
    own, others = _names_in(spec.get("volumes")), _names_in(templates)
    if own is None or others is None:
        return
    for place, container in _containers(spec, path):
        for position, name in _items(container.get("volumeMounts")):
            if name not in own | others:
                at = (*place, "volumeMounts", position, "name")
                message = f'{dotted(at)} is "{name}", no volume of the pod{_known(own | others)}'
                yield Problem(at, UNMET, message, f"add the volume to {dotted((*path, 'volumes'))}")


def _known(names: frozenset[str]) -> str:
    return f": it has {', '.join(sorted(names))}" if names else ""


def _containers(spec: dict[str, Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for field in _LISTS:
        listed = spec.get(field)
        for position, container in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(container, dict):
                yield (*path, field, position), container


def _names_in(listed: object) -> frozenset[str] | None:
    """None: not all of them are known yet."""
    if listed is None:
        return frozenset()
    names = frozenset(name for _, name in _items(listed))
    return names if isinstance(listed, list) and len([*_items(listed)]) == len(listed) else None


def _items(listed: object) -> Iterator[tuple[int, str]]:
    """Position and name of each item; a name that is filled in later is none."""
    for position, item in enumerate(listed if isinstance(listed, list) else ()):
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str) and name and not is_filled_in(name):
            yield position, name


def _selected(data: dict[str, Any]) -> Iterator[Problem]:
    wanted, labels = lookup(data, _SELECTOR), lookup(data, _LABELS)
    if not isinstance(wanted, dict) or not isinstance(labels, dict) or not labels:
        return  # a kustomization may give the pods all their labels
    if any(is_placeholder(key) for key in labels):
        return
    for key, value in wanted.items():
        there = labels.get(key)
        if not isinstance(value, str) or is_placeholder(value) or is_placeholder(key) or there == value:
            continue
        if key in labels and (not isinstance(there, str) or is_placeholder(there)):
            continue
        place = (*_SELECTOR, key)
        pods = f'"{there}"' if key in labels else "no such label"
        yield Problem(
            place,
            DISAGREEING,
            f'{dotted(place)} is "{value}", but its own pods have {pods}',
            f"write {key}: {value} in {dotted(_LABELS)}, or select what stands there",
        )
