"""Controllers and webhooks that set the schedulerName of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.manifests.document import Manifest
from policykit.targets import TARGETS

if TYPE_CHECKING:
    from policykit.kube.podsets.podset import PodSet
    from policykit.linter.target import Target
    from policykit.model.cluster import Cluster

_OVERWRITTEN = frozenset({"ray.io", "grove.io"})
"""API groups whose operators overwrite schedulerName."""
_OVERWRITTEN_VERSIONS = frozenset({"kubeflow.org/v2beta1"})
_FILLED = frozenset(
    {
        "batch.volcano.sh",
        "flow.volcano.sh",
        "kubeflow.org",
        "nvidia.com",
        "sparkoperator.k8s.io",
        "workload.serving.volcano.sh",
    }
)
"""API groups whose controllers set schedulerName if it is missing."""


def overwrites_scheduler(manifest: Manifest) -> bool:
    """Whether the controller replaces the schedulerName that the object sets."""
    return manifest.group in _OVERWRITTEN or manifest.api_version in _OVERWRITTEN_VERSIONS


def decides_scheduler(manifest: Manifest, scheduler: str) -> bool:
    """Whether the controller decides the pods' schedulerName, given the one in the object (empty: none)."""
    return overwrites_scheduler(manifest) or (not scheduler and manifest.group in _FILLED)


def assigned_scheduler(cluster: Cluster, pod_set: PodSet, namespace: str) -> str:
    """The schedulerName that the policy's objects set on the pods at admission; empty: none."""
    assigned = (
        target.assigned_scheduler.load()(cluster, pod_set, namespace)
        for target in TARGETS
        if target.assigned_scheduler
    )
    return next(filter(None, assigned), "")


def overrides_scheduler(target: Target, cluster: Cluster, namespace: str) -> bool:
    """Whether the policy has the target, and its admission controller covers the namespace."""
    settings = cluster.targets.get(target.name)
    return bool(
        settings and target.overrides_scheduler and target.overrides_scheduler.load()(settings, namespace)
    )
