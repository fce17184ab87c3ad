"""Controllers that write the schedulerName of their pods themselves."""

from __future__ import annotations

from policykit.manifests.document import Manifest

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


def gives_scheduler(manifest: Manifest, scheduler: str) -> bool:
    """Whether the pods' schedulerName is the controller's word, whatever the object says (empty: nothing)."""
    return overwrites_scheduler(manifest) or (not scheduler and manifest.group in _FILLED)
