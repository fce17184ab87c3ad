"""The merged configuration as files, so that every object keeps a single owner."""

from __future__ import annotations

import hashlib
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.targets.koordinator.scheduler import chart

FOLDER = "koordinator"
CONFIG_MAP_FILE = "koord-scheduler-config.yaml"
RESTART_FILE = "restart.yaml"
CHECKSUM = "policykit.io/koord-scheduler-config"
"""Pod template annotation: a new value restarts the Deployment, which then reads the file again."""


def post_render(config_map: str, inner: str, namespace: str) -> tuple[Artifact, ...]:
    """A kustomize component that patches the rendered chart."""
    return (
        *_component(f"{FOLDER}/post-render", (CONFIG_MAP_FILE, RESTART_FILE)),
        Artifact(f"{FOLDER}/post-render/{CONFIG_MAP_FILE}", config_map, Role.COMPONENT),
        Artifact(f"{FOLDER}/post-render/{RESTART_FILE}", restart(inner, namespace), Role.COMPONENT),
    )


def manifest(config_map: str, inner: str, namespace: str) -> tuple[Artifact, ...]:
    """The ConfigMap itself, and a component that restarts the Deployment, which the chart owns."""
    return (
        Artifact(f"{FOLDER}/{CONFIG_MAP_FILE}", config_map, Role.MANIFEST),
        *_component(f"{FOLDER}/restart", (RESTART_FILE,)),
        Artifact(f"{FOLDER}/restart/{RESTART_FILE}", restart(inner, namespace), Role.COMPONENT),
    )


def restart(inner: str, namespace: str) -> str:
    """Strategic merge patch of the Deployment with the checksum of its configuration."""
    checksum = hashlib.sha256(inner.encode()).hexdigest()
    return writer.dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": chart.DEPLOYMENT, "namespace": namespace},
            "spec": {"template": {"metadata": {"annotations": {CHECKSUM: checksum}}}},
        }
    )


def _component(folder: str, patches: tuple[str, ...]) -> tuple[Artifact, ...]:
    kustomization: dict[str, Any] = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [{"path": name} for name in patches],
    }
    return (Artifact(f"{folder}/kustomization.yaml", writer.dump(kustomization), Role.COMPONENT),)
