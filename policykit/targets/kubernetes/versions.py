"""The Kubernetes releases that policykit knows, and the features each added."""

from __future__ import annotations

from policykit.model.release import Releases, Version

RELEASES = Releases(
    "Kubernetes",
    {28: 15, 29: 15, 30: 14, 31: 14, 32: 13, 33: 13, 34: 4, 35: 4, 36: 3, 37: 0},
    by_patch=False,
)
"""Each with a late patch release, whose image exists."""

ONLY_V1 = Version(1, 29, 0)
"""kube-scheduler reads its configuration in v1 only; 1.28 also in v1beta3, with SelectorSpread."""
KUBEADM_LISTS = Version(1, 31, 0)
"""kubeadm.k8s.io/v1beta4, where extraArgs is a list; v1beta3 has a map."""
AFFINITY_KEYS = Version(1, 31, 0)
"""matchLabelKeys of pod affinity terms (beta, on; stable in 1.33)."""
WORKLOAD_API = Version(1, 35, 0)
"""Gangs of Kubernetes itself, in alpha: a Workload with podGroups, which pods name in workloadRef."""
POD_GROUP_API = Version(1, 36, 0)
"""PodGroup objects, which pods name in schedulingGroup; topology constraints."""
POD_GROUP_BETA = Version(1, 37, 0)
SCALE_TO_ZERO = Version(1, 37, 0)
"""minReplicas 0 of an autoscaler, with a metric that does not come from its pods (beta, on)."""

parse = RELEASES.parse
"""`1.36`, `v1.36.2`, `1.33.5-gke.100`, or empty for the newest known; a release that is not known is
the nearest.

Raises PolicykitError for a text that is not a release.
"""
