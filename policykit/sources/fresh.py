"""A process that lives on must look again: what was learnt of the disk is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.sources import boundary, existing, files, outputs, policies, scopes, settings
from policykit.sources.held import hold

_MODULES = (boundary, existing, files, outputs, policies, scopes, settings)


def forget(texts: Mapping[str, bytes]) -> None:
    """Every function of these modules that remembers its answers asks the disk again.

    `texts`: what an editor holds of files, by absolute path; it counts instead of the disk.
    """
    hold(texts)
    for module in _MODULES:
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()
