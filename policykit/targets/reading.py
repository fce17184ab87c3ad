"""What a target's reader gives back: a value in the system's own words, and where it stands."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from policykit.manifests.path import Path

Value = TypeVar("Value")


class Read(NamedTuple, Generic[Value]):
    """A value found in a text."""

    value: Value
    document: int = 0
    """Index of its document in the text, from 0."""
    path: Path = ()
    """Where it stands in the document; of the string that holds it, where it stands in one."""
    inner: Path | None = None
    """Where it stands within that string; None: it stands in no string."""
