"""Selectors with a label that each release changes, although a selector can never be changed."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.structure.admission.checks import CHANGING, Data, refused
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity


def selected(labels: object, path: Path) -> Iterator[Problem]:
    """Of a controller. Source: `ValidateDeploymentUpdate` and its like (Kubernetes v1.36)."""
    advice = "leave it to the labels of the pods: the next release is refused, as the field is immutable"
    yield from _among(labels, path, "selects pods by", advice)


def kustomization(data: Data) -> Iterator[Problem]:
    """Source: `commonLabels` and `includeSelectors` of kustomize (v5.8), which are written into selectors."""
    advice = "write it under labels, without includeSelectors: selectors are immutable"
    yield from _among(data.get("commonLabels"), ("commonLabels",), "makes selectors of", advice)
    for position, each in numbered(data.get("labels")):
        if each.get("includeSelectors") is True:
            path: Path = ("labels", position, "pairs")
            yield from _among(each.get("pairs"), path, "makes selectors of", advice)


def _among(labels: object, path: Path, does: str, advice: str) -> Iterator[Problem]:
    for key in mapping(labels):
        if key in CHANGING:
            what = f"{does} {CHANGING[key]}, which changes with a release"
            yield refused((*path, key), what, advice, Severity.WARNING, key=True)
