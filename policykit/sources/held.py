"""Texts that an editor holds: each counts instead of its file, whether it was saved or not."""

from __future__ import annotations

import os
from collections.abc import Mapping

_texts: dict[str, bytes] = {}


def hold(texts: Mapping[str, bytes]) -> None:
    """From now on these texts, by the absolute paths of their files, and no others."""
    _texts.clear()
    _texts.update(texts)


def held(path: str) -> bytes | None:
    """The text that counts instead of a file; None: what the disk has counts."""
    return _texts.get(os.path.abspath(path)) if _texts else None
