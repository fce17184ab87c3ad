"""Known YuniKorn releases, and the features each added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from policykit.targets.release import Version, release, stated_release
from policykit.targets.yunikorn.names import SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

NEWEST = "1.9.0"

_LAST_PATCH: Mapping[int, int] = {6: 3, 7: 0, 8: 0, 9: 0}
"""Minor release of YuniKorn 1 to its last known patch."""

QUOTA_PREEMPTION = Version(1, 8, 0)
"""preemption.quotapreemptionenabled of a partition: older releases refuse the file."""
GROUP_RESOLVER = Version(1, 8, 0)
"""usergroupresolver of a partition; older releases refuse the file."""
ASK_BACKOFF = Version(1, 8, 0)
"""Properties application.unschedasks.*."""
QUOTA_DELAY_RENAMED = Version(1, 9, 0)
"""quota.preemption.delay, which 1.8 calls preemption.quota.delay."""
PLACEHOLDER_USER = Version(1, 9, 0)
"""Settings service.placeholderRunAs*."""


def parse(text: str) -> Version:
    """`1.9.0`, `v1.8` (its last known patch), or empty for the newest known.

    Raises PolicykitError for releases policykit has no facts about.
    """
    return release("YuniKorn", text, NEWEST, _LAST_PATCH)


def policy_version(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None if it states none, or an unknown one."""
    return stated_release(cluster, SCHEDULER, parse)
