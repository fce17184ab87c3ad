"""What the linter knows of the schedulers: their words, their texts, and what they state of scopes."""

from __future__ import annotations

from typing import NamedTuple

from policykit.linter.configurations import Configuration
from policykit.linter.dialect import Dialect
from policykit.linter.scope import FactReader


class Systems(NamedTuple):
    """All schedulers of a run."""

    dialects: tuple[Dialect, ...] = ()
    readers: tuple[FactReader, ...] = ()
    configurations: tuple[Configuration, ...] = ()
