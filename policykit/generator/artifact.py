"""The output of a target: files with a role, and notices for users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple


class Role(StrEnum):
    """How a file is used: only manifests are listed in a kustomization."""

    MANIFEST = "manifest"
    """Applied unchanged: listed in the folder's kustomization.yaml."""
    VALUES = "values"
    """Helm values, for the chart's release."""
    COMPONENT = "component"
    """Part of a kustomize component that users reference themselves."""
    NODE = "node"
    """For nodes: applied by hand or by the provisioner, not part of a kustomization."""
    PAGE = "page"
    """Documentation."""


class Artifact(NamedTuple):
    """One generated file, without the header that `bundle` adds."""

    path: str
    """Relative to the output folder, with `/`."""
    text: str
    role: Role


class ComponentPatch(NamedTuple):
    """A patch of a kustomize component, and the objects that it applies to."""

    groups: tuple[str, ...]
    """API groups of the objects; empty for the core group."""
    kinds: tuple[str, ...]
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    """Part of an object, or the operations of a JSON patch."""
    comment: str = ""
    """Comment lines above it."""


class Notice(NamedTuple):
    """Something a target cannot express, and the closest alternative; printed by `gen`."""

    target: str
    message: str


class Generated(NamedTuple):
    """The output of one target for a cluster."""

    artifacts: tuple[Artifact, ...] = ()
    notices: tuple[Notice, ...] = ()


Generate = Callable[[Cluster], Generated]
"""A target's writer. Pure: files to merge into are in `TargetSettings.options` as text."""
