"""Pods that start together or not at all."""

from typing import NamedTuple


class PodGroup(NamedTuple):
    """A group object: its members start when `min_member` of them fit together."""

    system: str
    """Target that reads it: volcano, koordinator, ..."""
    namespace: str
    name: str
    min_member: int | None


class Membership(NamedTuple):
    """A pod set that joins a group by name."""

    system: str
    namespace: str
    group: str
    pods: int | None
    """How many pods it will ever have, autoscaler maximum counted; None: unknown."""
    scheduler: str
    """schedulerName of its pods, empty for none."""
