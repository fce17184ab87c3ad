"""Kubernetes releases policykit writes for, and what each brought."""

from __future__ import annotations

import re
from collections.abc import Mapping

from policykit.targets.release import Version

_TEXT = re.compile(r"v?1\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?:[-+.].*)?\Z")

LAST_PATCH: Mapping[int, int] = {29: 15, 30: 14, 31: 14, 32: 13, 33: 13, 34: 4, 35: 4, 36: 3, 37: 0}
"""Minor release of Kubernetes 1 to a late patch of it: an image that exists."""
NEWEST = Version(1, 37, 0)

KUBEADM_LISTS = Version(1, 31, 0)
"""kubeadm.k8s.io/v1beta4, where extraArgs is a list; v1beta3 has a map."""
AFFINITY_KEYS = Version(1, 31, 0)
"""matchLabelKeys of pod affinity terms (beta, on; stable in 1.33)."""
WORKLOAD_API = Version(1, 35, 0)
"""Gangs of Kubernetes' own, in alpha: Workload with podGroups, pods name it by workloadRef."""
POD_GROUP_API = Version(1, 36, 0)
"""PodGroup objects of their own, pods name one by schedulingGroup; topology constraints."""
POD_GROUP_BETA = Version(1, 37, 0)
SCALE_TO_ZERO = Version(1, 37, 0)
"""minReplicas 0 of an autoscaler, with a metric that does not come from its pods (beta, on)."""


def parse(text: str) -> Version:
    """`1.36`, `v1.36.2`, `1.33.5-gke.100`; the newest known for an empty or another text.

    A release older or newer than those known keeps its number.
    """
    match = _TEXT.match(text)
    if match is None:
        return NEWEST
    minor = int(match[1])
    return Version(1, minor, int(match[2]) if match[2] else LAST_PATCH.get(minor, 0))


def known(version: Version) -> bool:
    return version.minor in LAST_PATCH
