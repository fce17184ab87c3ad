"""What the options of every target are compiled with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Stated(NamedTuple):
    """Beside the models: the release, and the files that configuration is merged into."""

    release: tuple[int, ...] | None
    """None: not stated, or no version."""
    texts: Mapping[str, str]
    """By the name the policy gives them."""
