"""Template paths: their text form, their wildcards, and what they match in an object."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple


class Wildcard(Enum):
    """A wildcard step."""

    ITEM = "[*]"
    VALUE = "{*}"


Pattern = tuple[str | int | Wildcard, ...]
"""A path from the object's root that may contain wildcards; () is the object itself."""


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """`spec.tasks[*].template` as steps. `[*]` is every list item, `{*}` every map value."""
    if not text:
        return ()
    wildcards = {wildcard.value: wildcard for wildcard in Wildcard}
    parts = text.replace("[*]", ".[*]").replace("{*}", ".{*}").split(".")
    return tuple(wildcards.get(part, part) for part in parts)


def value(data: Any, path: Pattern) -> Any:
    """The value at a path without wildcards; None: a step is missing or null."""
    for step in path:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def matches(data: Any, path: Pattern) -> Iterator[Path]:
    """Paths of all existing values that are not null, in the order of the object."""
    for position, step in enumerate(path):
        if type(step) is Wildcard:
            head, rest = path[:position], path[position + 1 :]
            for key, item in _children(value(data, head), step):
                for below in matches(item, rest):
                    yield (*literal(head), key, *below)
            return
    if value(data, path) is not None:
        yield literal(path)


def _children(data: Any, wildcard: Wildcard) -> Iterator[tuple[str | int, Any]]:
    if wildcard is Wildcard.ITEM and isinstance(data, list):
        yield from enumerate(data)
    elif wildcard is Wildcard.VALUE and isinstance(data, dict):
        yield from data.items()


def literal(path: Pattern) -> Path:
    """The path without its wildcards, which a fully bound one has none of."""
    for step in path:
        if type(step) is Wildcard:
            return tuple([step for step in path if not isinstance(step, Wildcard)])
    return path  # type: ignore[return-value]


class Binding(NamedTuple):
    """One match of a template path: the indices and keys of its wildcards."""

    template: Pattern
    path: Path
    """The same path with every wildcard filled in."""

    def bound(self, other: Pattern) -> Pattern:
        """`other` with its wildcards filled in as far as it follows the template, step by step."""
        if self.template == self.path:
            return other  # nearly all templates have no wildcards
        shared = 0
        for mine, its in zip(self.template, other, strict=False):
            if mine != its:
                break
            shared += 1
        return (*self.path[:shared], *other[shared:])

    def value(self, data: Any, other: Pattern) -> Any:
        """The value at `other` for this match."""
        return value(data, self.bound(other))

    @property
    def suffix(self) -> str:
        """The values of the wildcards: `[0][Worker]`."""
        if self.template == self.path:
            return ""
        return "".join(
            f"[{step}]"
            for wildcard, step in zip(self.template, self.path, strict=True)
            if isinstance(wildcard, Wildcard)
        )
