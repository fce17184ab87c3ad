"""The output of a target: files with a role, sync waves of their objects, and notices for users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from policykit.cycles import depth
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


class TargetOutput(NamedTuple):
    """The output of one target for a cluster."""

    artifacts: tuple[Artifact, ...] = ()
    notices: tuple[Notice, ...] = ()


Generate = Callable[[Cluster], TargetOutput]
"""A target's writer. Pure: files to merge into are in `TargetSettings.options` as text."""


ANNOTATION = "argocd.argoproj.io/sync-wave"


def in_waves(objects: Iterable[Mapping[str, Any]], parents: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Objects of one kind, each with its depth as its sync wave; `parents`: name to name of the parent.

    Within a wave Argo CD applies objects by name. Objects at the top need no annotation: their wave is 0.
    """
    for data in objects:
        metadata = data["metadata"]
        wave = depth(metadata["name"], parents)
        if not wave:
            yield dict(data)
            continue
        annotations = {**metadata.get("annotations", {}), ANNOTATION: str(wave)}
        yield {**data, "metadata": {**metadata, "annotations": annotations}}
