"""What the options of every target are compiled with, and to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Stated(NamedTuple):
    """Beside the models: the release, and the files that configuration is merged into."""

    release: tuple[int, ...] | None
    """None: not stated, or no version."""
    texts: Mapping[str, str]
    """By the name the policy gives them."""


class SystemOptions(NamedTuple):
    """What a section of `targets` comes to."""

    options: object
    """Of the type that the target names."""
    schedulers: tuple[str, ...] = ()
    """As in TargetSettings."""
    card_vendors: frozenset[str] = frozenset()
    """As in TargetSettings."""
