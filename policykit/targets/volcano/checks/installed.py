"""Which release of Volcano a manifest is for, as far as a policy says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.catalogue.volcano.argument import Release
from policykit.errors import PolicykitError
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


def stated(cluster: Cluster | None) -> Release | None:
    """The release a policy names; None: none does, and the newest is taken."""
    target = cluster.targets.get(SCHEDULER) if cluster else None
    if target is None or not target.version:
        return None
    try:
        return tuple(versions.parse(target.version))
    except PolicykitError:
        return None


def newest() -> Release:
    """The newest release policykit knows."""
    return tuple(versions.parse(""))
