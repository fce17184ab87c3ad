"""Known YuniKorn releases, and the features each added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.manifests.memoize import memoize_last
from policykit.model.release import Releases, Version, stated_release
from policykit.targets.yunikorn.names import SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

RELEASES = Releases("YuniKorn", {3: 0, 4: 0, 5: 2, 6: 3, 7: 0, 8: 0, 9: 0})

STATE_DUMP_ENDS = Version(1, 5, 0)
"""statedumpfilepath of a partition: from here on the file is refused."""
DEFAULT_QUEUE_ENDS = Version(1, 5, 2)
"""Setting admissionController.filtering.defaultQueue."""
CANONICAL_LABELS = Version(1, 6, 0)
"""Labels yunikorn.apache.org/queue and app-id; older releases read queue and applicationId."""
LIMITS_COMPARED = Version(1, 4, 0)
"""Limits must fit into those of the same user or group in the queues above, and must not be all zeros; a
queue's own maximum of applications no longer makes one necessary in its limits."""
PLACEMENT_CHECKED = Version(1, 4, 0)
"""Fixed placement rules are checked against the queues as they are now; 1.3 had other rules."""
LIMITS_COMPARED_WITH_ALL = Version(1, 5, 0)
"""The same against the limit of * above; limits of the partition must be those of root."""
QUEUE_NAME_SIGNS = Version(1, 6, 0)
"""Names of queues may have : # / and @, those of users in limits and filters # and /."""
STATE_AWARE_ENDS = Version(1, 6, 0)
"""Sort policy stateaware, from here on the same as fifo."""
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

parse = RELEASES.parse
"""`1.9.0`, or empty for the newest known; a release that is not known is the nearest.

Raises PolicykitError for a text that is not a release.
"""


@memoize_last
def release_of(cluster: Cluster | None) -> Version | None:
    """The release that the policy states; None if it states none."""
    return stated_release(cluster, SCHEDULER, parse)
