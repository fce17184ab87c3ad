"""Values of one object that must agree with each other: names of containers, labels that a selector wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.structure.problem import DISAGREEING, Problem
from policykit.kube.structure.scalars import is_placeholder
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
