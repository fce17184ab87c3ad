"""What the readers of targets share: a value with its location, and the fields that a reader ignores."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

Value = TypeVar("Value")


class Read(NamedTuple, Generic[Value]):
    """A value found in a text."""

    value: Value
    document: int = 0
    """Index of its document in the text, from 0."""
    path: Path = ()
    """Location in the document; for a value inside a string, the location of the string."""
    inner: Path | None = None
    """Location within that string; None: the value is not inside a string."""


def unread_fields(data: Mapping[str, Any], known: Collection[str], under: str = "") -> tuple[str, ...]:
    """Dotted names of the non-empty fields that are not in `known`, sorted."""
    names = (key for key, value in data.items() if key not in known and value not in (None, "", [], {}))
    return tuple(sorted(f"{under}.{key}" if under else str(key) for key in names))
