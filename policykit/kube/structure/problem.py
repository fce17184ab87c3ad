"""What is wrong with an object's shape."""

from __future__ import annotations

from typing import NamedTuple

from policykit.manifests.path import Path

UNKNOWN_FIELD = "unknown-field"
WRONG_TYPE = "wrong-type"
BAD_VALUE = "bad-value"
MISSING_FIELD = "missing-field"
INVALID_QUANTITY = "invalid-quantity"
INVALID_LABEL = "invalid-label"
DISAGREEING = "disagreeing"
"""Values that are right each by itself, and not beside each other."""
CLASHING = "clashing"
"""Values of one part that exclude each other, whatever the part is laid over."""
UNMET = "unmet"
"""A name of something that the object lacks; a program that completes the object may add it."""


class Problem(NamedTuple):
    """One fault. `kind` is one of the constants above."""

    path: Path
    """The value at fault; for a missing field the mapping that lacks it."""
    kind: str
    message: str
    help: str = ""
    key: bool = False
    """The key at `path` is at fault, not its value."""
    field: str = ""
    """The field that is missing."""
    meant: Path = ()
    """Where an unknown field was meant to stand; empty where that is open."""
