"""Namespaces whose jobs and pods Kueue manages, in its own configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import selectors
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text, texts
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.rules.kueue.configuration_fields import START
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import NAMESPACE_NAME

_OF_JOBS: Path = ("managedJobsNamespaceSelector",)
_OF_PODS: Path = ("integrations", "podOptions", "namespaceSelector")
_FRAMEWORKS: Path = ("integrations", "frameworks")
_GATE = "ManagedJobsNamespaceSelector"
_POD, _SYSTEM = "pod", "kube-system"


def check(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """None of kube-system, nor of its own namespace, which is that of its ConfigMap if it states none.

    Sources: `validateManagedJobsNamespaceSelector`, `validatePodIntegrationOptions` (0.9 to 0.19). A gate
    turns the first off before 0.13, and since 0.15 nothing reads podOptions.
    """
    data, holder = manifest.data, manifest.holder
    own = text(data.get("namespace")) or (holder.namespace if holder and holder.kind == "ConfigMap" else "")
    old = not manifest.api_version.endswith("/v1beta2") and (have is None or have < versions.V1BETA2)
    if mapping(data.get("featureGates")).get(_GATE) is not False:
        yield from _selector(data, _OF_JOBS, own, "jobs", "")
    if old and _POD in texts(lookup(data, _FRAMEWORKS)):
        yield from _selector(data, _OF_PODS, own, "pods", "" if have else f"before {versions.V1BETA2} ")


def _selector(data: Mapping[str, Any], path: Path, own: str, what: str, before: str) -> Iterator[Violation]:
    """`before`: of which releases this is said, where others do not read it."""
    stated, level = lookup(data, path), Severity.WARNING if before else None
    if not isinstance(stated, dict):
        return
    if fault := _fault(stated):
        message = f"the selector {fault}: {before}{START}"
        yield Violation(path, message, "write expressions of labels", level, key=True)
    elif name := next((each for each in (_SYSTEM, own) if _selects(stated, each)), ""):
        message = f"selects {name}, where Kueue may not manage {what}: {before}{START}"
        advice = f"add {{key: {NAMESPACE_NAME}, operator: NotIn, values: [{_SYSTEM}, kueue-system]}}"
        yield Violation(path, message, advice, level)


def _fault(selector: Mapping[str, Any]) -> str:
    """What is wrong with an expression; empty: nothing."""
    final = (each for each in selectors.read_all(selector.get("matchExpressions")) if _is_final(each))
    return next(filter(None, map(selectors.problem, final)), "")


def _is_final(requirement: selectors.Requirement) -> bool:
    return not any(map(is_placeholder, (requirement.key, *requirement.values)))


def _selects(selector: Mapping[str, Any], namespace: str) -> bool:
    """Whether it selects a namespace by the label that every namespace has."""
    labels, wanted = {NAMESPACE_NAME: namespace}, mapping(selector.get("matchLabels"))
    if not namespace or is_placeholder(namespace):
        return False
    return wanted.items() <= labels.items() and all(
        _is_final(each) and selectors.matches(each, labels)
        for each in selectors.read_all(selector.get("matchExpressions"))
    )
