"""Suggestions for unknown fields: mis-indented, in the wrong place, or misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import is_extended
from policykit.kube.structure.schema import Shape, fits, kinds_of, shape_of
from policykit.manifests.path import Path, Step, dotted, lookup
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

_ALMOST, _CLOSE, _FAR = 0.85, 0.75, 0.65
_DEPTH = 4
_COMMON = frozenset({"name", "type", "key", "value", "path", "mode", "kind", "spec", "metadata"})
"""Names so common that finding them elsewhere means nothing."""
_USUAL = ("template", "spec", "containers", "resources", "metadata", "jobTemplate", "tasks")
"""The probable field if a name exists in several places."""


class Suggestion(NamedTuple):
    """A suggestion, as the end of a message; empty text: none."""

    text: str = ""
    help: str = ""
    claims: tuple[Path, ...] = ()
    """Paths that count as present, so they are not reported as missing."""
    shape: Shape | None = None
    """Schema of the suggested field, to check the value with."""
    place: Path = ()
    """Path of the suggested field, if the suggestion is certain. Item 0 means any item."""


def suggest(root: Shape, data: Any, path: Path, adopted: Mapping[Path, Shape]) -> Suggestion:
    """The best suggestion for the unknown field at `path`.

    In this order: a child of an empty sibling, a typing error, a field of a
    mapping above or below, a distant similarity. `adopted` has the schemas of unknown fields
    on the path, as suggested.
    """
    shapes = list(_shapes(root, path[:-1], adopted))
    owner = shapes[-1]
    key = str(path[-1])
    names = list(owner.schema.get("properties", ()))
    empty = _empty_sibling(owner, data, path)
    if empty and empty[1]:
        field = owner.field(empty[0])
        return _under(path, empty[0], "")._replace(shape=field.field(key) if field else None)
    if spelling := _alike(key, names, _CLOSE if empty else _ALMOST):
        return _spelt(path, spelling, owner)
    if empty:
        return _under(path, empty[0], key)
    if homes := _amounts(owner, key):
        return _an_amount(path, homes)
    value = lookup(data, path)
    if "matchLabels" in names and isinstance(value, str):
        return _a_label(path)
    older = _of_other_version(data, path)
    below = _below(owner, path, data)
    if not older or (below and len(below) == len(path) + 1):
        place = _above(shapes, data, path) or below
        if place:
            return _elsewhere(path, place)._replace(shape=list(_shapes(root, place, adopted))[-1])
    spelling = _alike(key, names, _FAR)
    if spelling and not (older and not _takes(owner, spelling, value)):
        return _spelt(path, spelling, owner)
    return Suggestion(older, f"fields known there: {_listed(names)}" if names else "")


def _shapes(root: Shape, path: Path, adopted: Mapping[Path, Shape]) -> Iterator[Shape]:
    """Shape of each mapping or list from the root to `path`."""
    shape = root.resolved()
    yield shape
    for depth, step in enumerate(path, 1):
        known = shape.item() if isinstance(step, int) else shape.field(step)
        inner = adopted.get(path[:depth], known)
        if inner is None:
            return
        shape = inner
        yield shape


def _empty_sibling(owner: Shape, data: Any, path: Path) -> tuple[str, bool] | None:
    """The nearest empty sibling that accepts the unknown field.

    With True if it has a field of that name; with False if it accepts any name (labels).
    """
    beside = lookup(data, path[:-1])
    if not isinstance(beside, dict):
        return None
    key = str(path[-1])
    names = list(beside)
    before = names[: names.index(key)][::-1] if key in names else []
    loose: tuple[str, bool] | None = None
    for name in (*before, *names[len(before) + 1 :]):
        shape = owner.field(name) if beside[name] is None else None
        if shape is None:
            continue
        if key in shape.schema.get("properties", ()):
            return name, True
        takes_any = "additionalProperties" in shape.schema and not shape.schema.get("properties")
        if takes_any and loose is None and not isinstance(beside[key], (dict, list)):
            loose = name, False
    return loose


def _under(path: Path, field: str, entry: str) -> Suggestion:
    key = path[-1]
    owner = path[:-1]
    advice = f"indent `{key}` under `{field}:`"
    claims: tuple[Path, ...] = ((*owner, field), (*owner, field, key))
    if entry:
        what = f"the {_SINGULAR[field]} {entry}" if field in _SINGULAR else f"an entry of `{field}`"
        text = f"probably meant as {what}, since `{field}:` next to it is empty"
    else:
        text = f"it belongs under `{field}:`, which is empty: the block is not indented deep enough"
    return Suggestion(text, advice, claims, place=claims[-1])


_SINGULAR = {"labels": "label", "annotations": "annotation", "matchLabels": "label"}


def _alike(key: str, names: list[str], cutoff: float) -> str:
    for name in names:
        if name.lower() == key.lower():
            return name
    return nearest(key, tuple(names), cutoff)


def _spelt(path: Path, name: str, owner: Shape) -> Suggestion:
    meant = (*path[:-1], name)
    sure = meant if _alike(str(path[-1]), [name], _ALMOST) else ()
    return Suggestion(f"did you mean `{name}`?", f"write `{name}`", (meant,), owner.field(name), sure)


def _above(shapes: list[Shape], data: Any, path: Path) -> Path | None:
    """The nearest mapping above that has the field and does not set it yet.

    Or the direct parent, unless it already has a text there, as a volume its name.
    """
    key = str(path[-1])
    value = lookup(data, path)
    for depth in range(len(shapes) - 2, -1, -1):
        place = (*path[:depth], key)
        there = lookup(data, place)
        free = there is None or (depth == len(path) - 2 and not isinstance(there, str))
        if free and key not in ("kind", "metadata") and _takes(shapes[depth], key, value):
            return place
    return None


def _below(owner: Shape, path: Path, data: object) -> Path | None:
    """The only place within a few levels below that has the field; stops at a level with several."""
    key, value, beside = str(path[-1]), lookup(data, path), lookup(data, path[:-1])
    if key in _COMMON:
        return None
    level: list[tuple[Path, Shape]] = [((), owner)]
    for _ in range(_DEPTH):
        deeper: list[tuple[Path, Shape]] = []
        for place, shape in level:
            for name in shape.schema.get("properties", ()):
                inner = shape.field(name)
                steps: tuple[Step, ...] = (name,)
                while inner is not None and (item := inner.item()) is not None:
                    inner, steps = item, (*steps, 0)
                if inner is not None and "properties" in inner.schema:
                    deeper.append(((*place, *steps), inner))
        places = [place for place, shape in deeper if _takes(shape, key, value)]
        written = [place for place in places if lookup(beside, place) is not None]
        if found := _choose(places, key) or _choose(written, key):
            return (*path[:-1], *found, key)
        if places and key != "resources":  # those of a pod are seldom meant
            return None
        level = deeper
    return None


def _takes(shape: Shape, key: str, value: object) -> bool:
    """Whether a mapping of this shape has the field, and for a value of this form."""
    if key not in shape.schema.get("properties", ()):
        return False
    field = shape.field(key)
    return field is None or fits(value, field)


def _choose(places: list[Path], key: str) -> Path | None:
    """The only place, the only usual one, or the only one outside lists.

    A bare `resources` is a container's.
    """
    usual = [place for place in places if all(isinstance(s, int) or s in _USUAL for s in place)]
    if key == "resources":
        usual = [place for place in usual if "containers" in place]
        return usual[0] if usual else None
    if len(usual) == 1:
        return usual[0]
    single = [place for place in places if all(isinstance(step, str) for step in place)]
    chosen = places if len(places) == 1 else single
    return chosen[0] if len(chosen) == 1 else None


def _amounts(owner: Shape, key: str) -> list[str]:
    """Sibling fields for resource amounts, if the key looks like a resource.

    A card under `resources:` can only be a limit, from which its request is copied.
    """
    if key not in ("cpu", "memory", "ephemeral-storage", "storage") and "/" not in key and "." not in key:
        return []
    homes: list[str] = []
    for name in owner.schema.get("properties", ()):
        shape = owner.field(name)
        if shape and "x-kubernetes-quantity" in (shape.schema.get("additionalProperties") or {}):
            homes.append(name)
    return ["limits"] if "limits" in homes and is_extended(key) else homes


def _an_amount(path: Path, homes: list[str]) -> Suggestion:
    fields = " or ".join(f"`{home}`" for home in homes)
    claims = tuple((*path[:-1], home) for home in homes)
    place = (*claims[0], path[-1]) if len(claims) == 1 else ()
    return Suggestion(
        f"resource amounts belong under {fields}", f"indent it under {fields}", claims, place=place
    )


def _a_label(path: Path) -> Suggestion:
    claim = (*path[:-1], "matchLabels")
    advice = "indent it under `matchLabels`"
    return Suggestion("labels belong under `matchLabels`", advice, (claim,), place=(*claim, path[-1]))


def _of_other_version(data: Any, path: Path) -> str:
    """A message with the version of the kind that has the field at this path."""
    stated, kind = data.get("apiVersion"), data.get("kind")
    if not isinstance(stated, str) or not isinstance(kind, str):
        return ""
    group, _, own = stated.rpartition("/")
    for version in (kinds_of(group) or {}).get(kind, ()):
        shape = shape_of(f"{group}/{version}".lstrip("/"), kind) if version != own else None
        if shape and _has(shape, path):
            return f"{version} of {kind} has it, {own} does not"
    return ""


def _has(root: Shape, path: Path) -> bool:
    shapes = list(_shapes(root, path[:-1], {}))
    return len(shapes) == len(path) and path[-1] in shapes[-1].schema.get("properties", ())


def _elsewhere(path: Path, place: Path) -> Suggestion:
    claims = tuple(place[:length] for length in range(1, len(place) + 1))
    if len(place) == 1:
        text, advice = "it belongs at the top level", f"write `{path[-1]}` without indentation"
    else:
        text, advice = f"it belongs in {dotted(place[:-1])}", f"move `{path[-1]}` to {dotted(place)}"
    return Suggestion(text, advice, claims, place=place)


def _listed(names: list[str]) -> str:
    shown = sorted(names)[:12]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
