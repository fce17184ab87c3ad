"""Gangs that are to stay within a tier of the network, and whether a scheduler reads that."""

from typing import NamedTuple


class TierUse(NamedTuple):
    """A gang that is to stay within a tier. Places of its fact: `tier`."""

    tier: int | None
    tier_name: str
    hard: bool
    pods: int | None = None
    """Pods that start together; None: not known."""
    request: tuple[tuple[str, int], ...] = ()
    """What one of its pods asks for at least."""


class TopologyPlugin(NamedTuple):
    """A Volcano configuration, and whether it has the plugin that reads tiers. Place: `plugins`."""

    enabled: bool
