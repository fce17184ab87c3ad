"""Configurations of schedulers that are built from Volcano's source and have parts of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from policykit.manifests.document import Manifest
from policykit.manifests.memoize import memoize_last
from policykit.manifests.shape import text
from policykit.targets.volcano.scheduler.actions import ACTIONS
from policykit.targets.volcano.scheduler.configuration import read
from policykit.targets.volcano.scheduler.plugins import PLUGINS

_KNOWN = (*ACTIONS, *PLUGINS)
_SHORTEST = 2


@memoize_last  # asked for every name that is not known
def names_its_own(manifest: Manifest) -> bool:
    """Whether several names are Volcano's with the same letters before or after them: preemptpf,
    proportionpf."""
    listed = text(manifest.data.get("actions")).split(",")
    names = {*(each.strip() for each in listed), *(each.name for each in read(manifest.data).plugins)}
    added = Counter(affix for name in names.difference(_KNOWN) for affix in set(_affixes(name)))
    return any(number > 1 for number in added.values())


def _affixes(name: str) -> Iterator[tuple[str, str]]:
    for known in _KNOWN:
        if len(name) - len(known) >= _SHORTEST:
            if name.startswith(known):
                yield "after", name[len(known) :]
            if name.endswith(known):
                yield "before", name[: -len(known)]
