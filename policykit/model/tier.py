"""Gangs constrained to a network tier, and whether a scheduler supports it."""

from typing import NamedTuple


class TierUse(NamedTuple):
    """A gang constrained to a tier. Places of its fact: `tier`."""

    tier: int | None
    tier_name: str
    hard: bool
    pods: int | None = None
    """Pods that start together; None: unknown."""
    request: tuple[tuple[str, int], ...] = ()
    """Least request of one of its pods."""


class TopologyPlugin(NamedTuple):
    """A Volcano configuration, and whether it has the plugin that reads tiers. Place: `plugins`."""

    enabled: bool
