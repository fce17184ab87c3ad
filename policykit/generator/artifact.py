"""What a target hands over: files with a role, and notices for people."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from policykit.model.cluster import Cluster


class Role(StrEnum):
    """What may be done with a file: only manifests stand in a kustomization."""

    MANIFEST = "manifest"
    """Applied as it is: listed in the folder's kustomization.yaml."""
    VALUES = "values"
    """Helm values, for the chart's release."""
    COMPONENT = "component"
    """Part of a kustomize component that users reference themselves."""
    NODE = "node"
    """Node side: applied by hand or by the provisioner, in no kustomization."""
    PAGE = "page"
    """Text for people."""


class Artifact(NamedTuple):
    """One generated file. The engine puts the header on top."""

    path: str
    """Relative to the output folder, with `/`."""
    text: str
    role: Role


class Notice(NamedTuple):
    """What a target could not express, and what comes nearest; printed at generation."""

    target: str
    message: str


class Generated(NamedTuple):
    """All that one target has to say about a cluster."""

    artifacts: tuple[Artifact, ...] = ()
    notices: tuple[Notice, ...] = ()


Generate = Callable[[Cluster], Generated]
"""A target's writer. Pure: files it must merge into stand in `TargetSettings.options` as text."""
