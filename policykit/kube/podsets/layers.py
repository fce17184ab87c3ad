"""Merging of pod templates and of the patches inside an object, as each controller does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.podsets.kind_entry import value
from policykit.kube.podsets.templates import Places, Pod, pod_template
from policykit.manifests.parser import parse
from policykit.manifests.path import Path

_MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "topologySpreadConstraints": "topologyKey",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
"""Lists that a strategic merge patch merges, and by which key; others it replaces."""


def merged(top: Pod, below: Pod, merge: str, keys: Mapping[str, str], main: Pod) -> Pod:
    """`top` over `below`; `main` is the one of both that is the pod template itself.

    `merge` is strategic (maps and keyed lists merge, other lists are replaced), fallback (a
    field of the top counts whole), append (tolerations of both count) or index (lists merge
    item by item). Merged lists have the items of the top first, so its paths stay true.
    """
    spec = {**below.spec, **_written(top.spec, merge)}
    for field in top.spec:
        if field in below.spec and spec[field] is top.spec[field]:
            spec[field] = _MERGES[merge](field, below.spec[field], top.spec[field], keys)
    return Pod(
        spec,
        {**below.labels, **top.labels},
        {**below.annotations, **top.annotations},
        _places(top, below, main),
        main.default_place if main.default_place is not None else _other(main, top, below).default_place,
        (*below.patches, *top.patches),
    )


def _written(spec: Mapping[str, Any], merge: str) -> dict[str, Any]:
    """Fields with content: a null or empty field of an upper layer hides nothing.

    Except an empty affinity that falls back to that below only if it is nil, as in Argo Workflows.
    """
    return {
        field: value
        for field, value in spec.items()
        if value not in (None, "", [], {}) or (merge == "fallback" and field == "affinity" and value == {})
    }


def _other(main: Pod, top: Pod, below: Pod) -> Pod:
    return below if main is top else top


def _places(top: Pod, below: Pod, main: Pod) -> Places:
    """The location of a field is in its uppermost layer, else in the pod template."""
    other = _other(main, top, below)
    fields = [*top.spec, *below.spec, *main.places, *other.places]
    places: Places = {}
    for field in dict.fromkeys(fields):
        owner = top if _has(top, field) else below if _has(below, field) else main
        place = owner.place(field)
        places[field] = place if place is not None else other.place(field)
    return places


def _has(pod: Pod, field: str) -> bool:
    if field == "labels":
        return bool(pod.labels)
    if field == "annotations":
        return bool(pod.annotations)
    return pod.spec.get(field) not in (None, "", [], {})


def strategic(field: str, below: Any, top: Any, keys: Mapping[str, str]) -> Any:
    """A strategic merge of one field: maps merge, null deletes, keyed lists merge by their key."""
    if isinstance(below, dict) and isinstance(top, dict):
        merged = {**below, **top}
        for key, value in top.items():
            if key in below:
                merged[key] = strategic(key, below[key], value, keys)
        return {key: value for key, value in merged.items() if value is not None}
    key = keys.get(field) or _MERGE_KEYS.get(field)
    if key and isinstance(below, list) and isinstance(top, list):
        return _by_key(field, below, top, key, keys)
    return top


def _by_key(field: str, below: list[Any], top: list[Any], key: str, keys: Mapping[str, str]) -> list[Any]:
    remaining = list(below)
    merged: list[Any] = []
    for item in top:
        same = next((b for b in remaining if _identity(b, key) == _identity(item, key) is not None), None)
        if same is None:
            merged.append(item)
        else:
            remaining.remove(same)
            merged.append(strategic("", same, item, keys))
    return merged + remaining


def _identity(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, dict) else None


def _fallback(field: str, below: Any, top: Any, keys: Mapping[str, str]) -> Any:
    return top


def _append(field: str, below: Any, top: Any, keys: Mapping[str, str]) -> Any:
    if field == "tolerations" and isinstance(below, list) and isinstance(top, list):
        return top + below
    if field == "nodeSelector" and isinstance(below, dict) and isinstance(top, dict):
        return {**below, **top}
    if field == "affinity":
        return _narrowed(below, top)
    return top


def _narrowed(below: Any, top: Any) -> Any:
    """Required terms of both must hold (a term is a conjunction, the list a choice)."""
    required = ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    ours, theirs = _at(top, required), _at(below, required)
    if not ours or not theirs:
        return strategic("affinity", below, top, {})
    terms = [_conjunction(one, other) for other in theirs for one in ours]
    return strategic("affinity", below, {required[0]: {required[1]: {required[2]: terms}}}, {})


def _conjunction(one: Any, other: Any) -> dict[str, list[Any]]:
    joined: dict[str, list[Any]] = {}
    for term in (one, other):
        for part, expressions in term.items() if isinstance(term, dict) else ():
            if isinstance(expressions, list):
                joined[part] = joined.get(part, []) + expressions
    return joined


def _at(data: Any, path: tuple[str, ...]) -> list[Any]:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data if isinstance(data, list) else []


def _by_index(field: str, below: Any, top: Any, keys: Mapping[str, str]) -> Any:
    if isinstance(below, dict) and isinstance(top, dict):
        shared = {key: _by_index(key, below[key], top[key], keys) for key in top if key in below}
        return {**below, **top, **shared}
    if isinstance(below, list) and isinstance(top, list):
        merged = [_by_index("", b, t, keys) for b, t in zip(below, top, strict=False)]
        return merged + (top[len(below) :] or below[len(top) :])
    return top


_MERGES = {"strategic": strategic, "fallback": _fallback, "append": _append, "index": _by_index}


def patched(data: Any, pod: Pod) -> Pod:
    """The pod with its strategic merge patches applied; patches that are not maps are skipped."""
    for place in pod.patches:
        patch = _patch(value(data, place), place)
        if patch is not None:
            pod = merged(patch, pod, "strategic", {}, main=pod)
    return pod


def _patch(found: Any, place: Path) -> Pod | None:
    """A map is a patch of the whole template, text one of its PodSpec (Argo podSpecPatch)."""
    if isinstance(found, dict):
        return pod_template(found, place)
    if not isinstance(found, str):
        return None
    document = next(parse(found), None)
    spec = document.root.data if document and document.root else None
    if not isinstance(spec, dict):
        return None
    # A text has no paths inside: everything the patch sets is located at the text.
    places: Places = {**{str(field): place for field in spec}, "labels": None, "annotations": None}
    return Pod(spec, {}, {}, places, None)
