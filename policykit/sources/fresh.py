"""A process that lives on must look again: what was learnt of the disk is forgotten."""

from __future__ import annotations

from policykit.sources import existing, files, outputs, policies, scopes, settings

_MODULES = (existing, files, outputs, policies, scopes, settings)


def forget() -> None:
    """Every function of these modules that remembers its answers asks the disk again."""
    for module in _MODULES:
        for value in vars(module).values():
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                clear()
