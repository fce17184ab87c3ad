"""The pods of an object that Kueue admits at once."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest

_WHOLE = frozenset({"batch", "jobset.x-k8s.io", "kubeflow.org"})
"""API groups of jobs that state the number of their pods."""
_ELASTIC = ("kueue.x-k8s.io/elastic-job", "kueue.x-k8s.io/job-min-parallelism")
"""Annotations of jobs that start with fewer pods."""


def pods(manifest: Manifest, pod_sets: Sequence[PodSet]) -> int | None:
    """All of them; None: unknown, or they are admitted one by one.

    Source: `PodSets` of the integrations in pkg/controller/jobs (0.9 to 0.19).
    """
    numbers = [each.replicas for each in pod_sets if not each.stored]
    if manifest.group not in _WHOLE or manifest.partial or None in numbers or len(numbers) < len(pod_sets):
        return None
    if any(key in manifest.annotations for key in _ELASTIC):
        return None
    return sum(number or 0 for number in numbers) or None
