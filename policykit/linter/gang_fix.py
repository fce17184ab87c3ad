"""The size of a gang, written as its place asks: a number in a field, text in a label or annotation."""

from __future__ import annotations

from policykit.manifests.patch import Patch
from policykit.manifests.path import Path

_TEXTS = frozenset({"annotations", "labels"})


def sized(path: Path, size: int) -> Patch:
    """The patch that writes a gang's size, in place of another or where there is none."""
    return Patch("add", path, str(size) if len(path) > 1 and path[-2] in _TEXTS else size)
