"""A change to data: add, replace or remove what stands at a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.manifests.path import Path, Step, dotted

APPEND = "-"
"""As a last step: behind the last item of a sequence."""


class EditError(PolicykitError):
    """A change that cannot be made, or that the text would not show as intended."""


class Patch(NamedTuple):
    """One operation of RFC 6902, with one addition: `add` creates the parents that are missing."""

    op: str
    """add, replace or remove. `add` of a key that exists replaces its value."""
    path: Path
    value: Any = None


def patched(data: Any, patch: Patch) -> Any:
    """A copy of `data` with the change made. Raises EditError where the path leads nowhere."""
    return _patched(data, patch.path, patch)


def _patched(data: Any, rest: Sequence[Step], patch: Patch) -> Any:
    if not rest:
        return patch.value
    step, below = rest[0], rest[1:]
    if data is None and patch.op == "add":
        data = [] if isinstance(step, int) or step == APPEND else {}
    if isinstance(data, dict) and isinstance(step, str):
        return _in_mapping(data, step, below, patch)
    if isinstance(data, list):
        return _in_sequence(data, len(data) if step == APPEND else step, below, patch)
    raise EditError(f"{dotted(patch.path)}: {step!r} leads into a value that has no such part")


def _in_mapping(data: dict[str, Any], key: str, below: Sequence[Step], patch: Patch) -> dict[str, Any]:
    if key not in data and patch.op != "add":
        raise EditError(f"{dotted(patch.path)}: there is no {key!r} to {patch.op}")
    if not below and patch.op == "remove":
        return {k: v for k, v in data.items() if k != key}
    return {**data, key: _patched(data.get(key), below, patch)}


def _in_sequence(data: list[Any], position: Step, below: Sequence[Step], patch: Patch) -> list[Any]:
    room = len(data) + (patch.op == "add")
    if not isinstance(position, int) or not 0 <= position < room:
        raise EditError(f"{dotted(patch.path)}: there is no item {position!r} to {patch.op}")
    before, after = data[:position], data[position + 1 :]
    if below:
        item = data[position] if position < len(data) else None
        return [*before, _patched(item, below, patch), *after]
    if patch.op == "add":
        return [*before, patch.value, *data[position:]]
    return [*before, *after] if patch.op == "remove" else [*before, patch.value, *after]


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[Patch]:
    """The smallest changes by key that make `old` into `new`; a changed sequence is replaced whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key not in new:
                yield Patch("remove", (*path, key))
        for key, value in new.items():
            if key in old:
                yield from differences(old[key], value, (*path, key))
            else:
                yield Patch("add", (*path, key), value)
    elif type(old) is not type(new) or old != new:
        yield Patch("replace", path, new)
