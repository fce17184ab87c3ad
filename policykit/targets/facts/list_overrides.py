"""Lists in objects and in patches of them that kustomize replaces as a whole.

In built-in kinds these are lists without a merge key; in all others, every list with pod templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.affinity import PREFERRED, REQUIRED
from policykit.kube.podsets import PodSet, entry
from policykit.kube.podsets import pod_sets as read_pod_sets
from policykit.kube.podsets.kind_entry import literal
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, mappings, text
from policykit.model.list_overrides import ListField

_ATOMIC: tuple[tuple[str, ...], ...] = (
    ("tolerations",),
    ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"),
    ("affinity", "nodeAffinity", PREFERRED),
)
_LONGEST = 64
_ENCODED = json.JSONEncoder(sort_keys=True, default=str).encode
_QUOTED = json.encoder.encode_basestring_ascii
_LEFT_OUT = '"..."'


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Facts from objects with pods, from patches of them, and from patches within a Kustomization."""
    if manifest.kind == "Kustomization":
        yield from _inline(manifest.data)
    elif not (manifest.partial and _is_whole(manifest.data, pod_sets)):
        for path, written in _lists(manifest.data, pod_sets, patch=manifest.partial):
            places = {"list": path} if written.patch else {}
            yield Fact(written, places, answers=not written.patch, as_written=True)


def _is_whole(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> bool:
    """Whether nothing is left to another object: then it is what a test compares, not a patch."""
    listed = [mappings(pod_set.spec.get("containers")) for pod_set in pod_sets]
    return "selector" in mapping(data.get("spec")) and all(
        each and all("image" in container for container in each) for each in listed
    )


def _inline(data: Mapping[str, Any]) -> Iterator[Fact]:
    from policykit.manifests.parser import parse

    listed = data.get("patches")
    for number, each in enumerate(listed if isinstance(listed, list) else ()):
        written = mapping(each).get("patch")
        document = next(parse(written), None) if isinstance(written, str) else None
        patch = document.root.data if document and document.root and not document.problem else None
        target = mapping(mapping(each).get("target"))
        if isinstance(patch, dict) and not target:
            for path, found in _lists(patch, read_pod_sets(patch), patch=True):
                place: dict[str, Path] = {"list": ("patches", number, "patch")}
                yield Fact(found, place, {"list": path}, as_written=True)


def _lists(
    data: Mapping[str, Any], pod_sets: Sequence[PodSet], *, patch: bool
) -> Iterator[tuple[Path, ListField]]:
    atomic = any(pod_set.strategic for pod_set in pod_sets)
    lists = _atomic(pod_sets) if atomic else _outermost(data)
    metadata = mapping(data.get("metadata")) if lists else {}
    kind, name = text(data.get("kind")), text(metadata.get("name"))
    if not kind or not name:
        return
    api = text(data.get("apiVersion"))
    group = api.partition("/")[0] if "/" in api else ""
    for path, items in lists.items():
        if not isinstance(items, list) or not 0 < len(items) <= _LONGEST:
            continue
        if not atomic and not all(isinstance(mapping(item).get("name"), str) for item in items):
            continue
        if patch and _LEFT_OUT in _json(items):
            continue  # an excerpt of the object, not a patch
        shown = tuple([_json(item) if atomic else _named(item) for item in items])
        namespace = text(metadata.get("namespace"))
        yield path, ListField(group, kind, namespace, name, dotted(path), shown, not atomic, patch)


def _atomic(pod_sets: Sequence[PodSet]) -> dict[Path, Any]:
    """Such lists of built-in kinds."""
    return {
        pod_set.place(*path): items
        for pod_set in pod_sets
        if pod_set.strategic
        for path in _ATOMIC
        if (items := lookup(pod_set.spec, path))
    }


def _outermost(data: Mapping[str, Any]) -> dict[Path, Any]:
    """Those of other kinds, whose items are identified by name."""
    known = entry(data.get("apiVersion"), data.get("kind"))
    found: dict[Path, Any] = {}
    for template in known.templates if known and not known.strategic else ():
        path = template.path
        outermost = next((at for at, step in enumerate(path) if not isinstance(step, str)), 0)
        if outermost:
            place = literal(path[:outermost])
            found[place] = lookup(data, place)
    return found


def _named(item: Any) -> str:
    keys = sorted([key for key in item if isinstance(key, str)])
    return f"[{_QUOTED(item['name'])}, [{', '.join(map(_QUOTED, keys))}]]"  # as JSON, for every container


def _json(item: Any) -> str:
    if type(item) is dict and {*map(type, item), *map(type, item.values())} == {str}:  # most tolerations
        return f"{{{', '.join([f'{_QUOTED(key)}: {_QUOTED(item[key])}' for key in sorted(item)])}}}"
    return _ENCODED(item)
