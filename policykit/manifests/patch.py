"""A change to data: add, replace, remove, rename or move the value at a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policykit.errors import PolicykitError
from policykit.manifests.path import Path, Step, dotted, lookup
from policykit.namedtuple import NamedTuple

APPEND = "-"
"""As a last step: behind the last item of a sequence."""


class EditError(PolicykitError):
    """A change that cannot be made, or that the text would not show as intended."""


class Patch(NamedTuple):
    """One operation in the spirit of RFC 6902."""

    op: str
    """add: a key that exists gets the new value, parents that are missing are made. replace,
    remove. rename: `value` is the new key, the entry keeps its place. move: `value` is a Move
    below `path`. A key that exists is never renamed or moved over."""
    path: Path
    value: Any | Move = None


class Move(NamedTuple):
    """From where to where a field of a mapping goes, both below the path of the patch."""

    old: Path
    new: Path
    """Its last step is the field's name, as in `old`; parents that are missing are made."""


def patched(data: Any, patch: Patch) -> Any:
    """A copy of `data` with the change made. Raises EditError where the path leads nowhere."""
    return _patched(data, patch.path, patch)


def all_patched(data: Any, patches: Iterable[Patch]) -> Any:
    """A copy of `data` with the changes made in order. Raises EditError as `patched` does.

    The data is copied once, and then each change copies only the collection that it is made in.
    """
    from copy import deepcopy  # most runs change nothing

    root = deepcopy(data)
    for patch in patches:
        root = _patched_below(root, patch._replace(value=deepcopy(patch.value)))
    return root


def _patched_below(root: Any, patch: Patch) -> Any:
    """The data with a change made in place, except in the last collection on its path."""
    above, part = None, root
    depth = 0
    for depth, step in enumerate(patch.path):
        below = _part(part, step)
        if depth + 1 == len(patch.path) or below is None:
            break
        above, part = part, below
    changed = _patched(part, patch.path[depth:], patch)
    if above is None:
        return changed
    above[patch.path[depth - 1]] = changed
    return root


def _part(data: Any, step: Step) -> Any:
    """What a step leads to; None where it leads nowhere."""
    if isinstance(data, dict):
        return data.get(step)
    there = isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data)
    return data[step] if there else None


def _patched(data: Any, rest: Sequence[Step], patch: Patch) -> Any:
    if not rest:
        return _whole(data, patch)
    step, below = rest[0], rest[1:]
    if data is None and patch.op == "add":
        data = [] if isinstance(step, int) or step == APPEND else {}
    if isinstance(data, dict) and isinstance(step, str):
        return _in_mapping(data, step, below, patch)
    if isinstance(data, list):
        return _in_sequence(data, len(data) if step == APPEND else step, below, patch)
    raise EditError(f"{dotted(patch.path)}: {step!r} the value before it has no such part")


def _whole(data: Any, patch: Patch) -> Any:
    if patch.op == "rename":
        raise EditError(f"{dotted(patch.path)}: only a key of a mapping can be renamed")
    if patch.op != "move":
        return patch.value
    move: Move = patch.value
    place, beside = dotted((*patch.path, *move.new)), lookup(data, move.new[:-1])
    if not isinstance(move.old[-1], str) or move.new[: len(move.old)] == move.old:
        raise EditError(f"{place}: only a field of a mapping can be moved, and not into itself")
    if isinstance(beside, dict) and move.new[-1] in beside:
        raise EditError(f"{place}: there is a {move.new[-1]!r} already")
    rest = patched(data, Patch("remove", move.old))
    return patched(rest, Patch("add", move.new, lookup(data, move.old)))


def _in_mapping(data: dict[str, Any], key: str, below: Sequence[Step], patch: Patch) -> dict[str, Any]:
    if key not in data and patch.op != "add":
        raise EditError(f"{dotted(patch.path)}: there is no {key!r} to {patch.op}")
    if not below and patch.op == "remove":
        return {k: v for k, v in data.items() if k != key}
    if not below and patch.op == "rename":
        name = str(patch.value)
        if name in data:
            raise EditError(f"{dotted(patch.path)}: there is a {name!r} already")
        return {name if k == key else k: v for k, v in data.items()}
    return {**data, key: _patched(data.get(key), below, patch)}


def _in_sequence(data: list[Any], position: Step, below: Sequence[Step], patch: Patch) -> list[Any]:
    room = len(data) + (patch.op == "add")
    if not isinstance(position, int) or not 0 <= position < room:
        raise EditError(f"{dotted(patch.path)}: there is no item {position!r} to {patch.op}")
    before, after = data[:position], data[position + 1 :]
    if below or patch.op in ("rename", "move"):
        item = data[position] if position < len(data) else None
        return [*before, _patched(item, below, patch), *after]
    if patch.op == "add":
        return [*before, patch.value, *data[position:]]
    return [*before, *after] if patch.op == "remove" else [*before, patch.value, *after]


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[Patch]:
    """The smallest changes by key that make `old` into `new`; a changed sequence is replaced whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        renamed = _renamed(old, new)
        yield from (Patch("rename", (*path, key), name) for key, name in renamed.items())
        for key in old:
            if key not in new and key not in renamed:
                yield Patch("remove", (*path, key))
        for key, value in new.items():
            if key in old:
                yield from differences(old[key], value, (*path, key))
            elif key not in renamed.values():
                yield Patch("add", (*path, key), value)
    elif not _alike(old, new):
        yield Patch("replace", path, new)


def _renamed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Keys that gave way to another in the same place, with the same value."""
    return {
        key: name
        for key, name in zip(old, new, strict=False)
        if key not in new and name not in old and _alike(old[key], new[name])
    }


def _alike(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, the order of keys says nothing."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)
