"""A task group against the pods it holds places for: what they request, and where they may run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube import requests, tolerations
from policykit.kube.affinity import REQUIRED
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity

if TYPE_CHECKING:
    from policykit.targets.yunikorn.task_groups import Group

_REQUIRED = ("affinity", "nodeAffinity", REQUIRED)


def differences(group: Group, path: Path, pod_set: PodSet) -> Iterator[Violation]:
    """`path` leads to the annotation. Placeholders that differ hold the wrong places, or none."""
    yield from _smaller(group, path, pod_set)
    yield from _elsewhere(group, path, pod_set)


def _smaller(group: Group, path: Path, pod_set: PodSet) -> Iterator[Violation]:
    listed = group.fields.get("minresource")
    if not isinstance(listed, Mapping) or any(is_placeholder(each) for each in listed.values()):
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
                f"{resource}, its minResource has {there}: the places held for the group are given up",
                f"write {amount_text(resource, asked[resource])}, or what the pods request in the end",
                inside=inside,
            )
            return


def _elsewhere(group: Group, path: Path, pod_set: PodSet) -> Iterator[Violation]:
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
        if held == asked or _unfinished(asked) or _unfinished(held):
            continue
        if not asked:
            differs = f"has {what} that its pods do not have"
        elif not held:
            differs = f"lacks {what} that its pods have"
        else:
            differs = f"has another {what} than its pods"
        yield Violation(
            path,
            f"task group {group.name} {differs}: places are held where the pods cannot or need not run",
            f"write the same {what} in the group as in the pods",
            Severity.WARNING,
            inside=group.inside(field),
        )


def _tolerated(data: Mapping[str, Any]) -> frozenset[object]:
    return frozenset(
        each._replace(operator="" if each.operator == "Equal" else each.operator)
        for each in tolerations.read(data.get("tolerations"))
    )


def _unfinished(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_unfinished(each) for each in value.values())
    if isinstance(value, (list, frozenset, tuple)):
        return any(_unfinished(each) for each in value)
    return is_placeholder(value)
