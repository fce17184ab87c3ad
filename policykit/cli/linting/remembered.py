"""Results of earlier runs, for runs that are large enough to be worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.cli.linting.gather import Gathered
from policykit.cli.policy import files_of
from policykit.sources import cache, kept
from policykit.sources.files import read

if TYPE_CHECKING:
    from policykit.linter.memory import Memory

_WORTH = 100_000
"""Bytes of manifests below which looking things up takes longer than finding them."""


def worth(gathered: Gathered) -> bool:
    """Whether the run is large enough, and may be remembered; its settings are marked then."""
    if gathered.timed or not cache.is_on() or sum(gathered.sizes) < _WORTH:
        return False
    for number, (setting, source) in enumerate(zip(gathered.settings, gathered.sources, strict=True)):
        if setting.mark == b"":
            mark = kept.mark(files_of(source), read) if setting.cluster else b"none"
            gathered.settings[number] = setting._replace(mark=mark)
    return True


def memory_of(gathered: Gathered) -> Memory | None:
    """What the run may remember; None: nothing."""
    if not worth(gathered):
        return None
    from policykit.linter.memory import Memory
    from policykit.pickles import DAMAGED, thawed

    raw = cache.load(cache.name_of("results"))
    try:
        known = thawed(raw) if raw else {}
    except DAMAGED:
        known = {}
    return Memory(known if isinstance(known, dict) else {}, cache.tool())


def keep(memory: Memory | None) -> None:
    """Leaves what is new to the next run."""
    if memory is not None and memory.new:
        from policykit.pickles import frozen

        cache.store(cache.name_of("results"), frozen(memory.entries()))
