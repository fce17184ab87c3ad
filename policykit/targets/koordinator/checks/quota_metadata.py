"""Labels and annotations of an ElasticQuota that Koordinator does not read where they stand."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.nearest import nearest

PREFIX = "quota.scheduling.koordinator.sh/"
LABELS = frozenset(
    {
        *("allow-force-update", "allow-lent-resource", "ignore-default-tree", "is-parent", "is-root"),
        *("name", "parent", "preemptible", "profile", "tree-id"),
    }
)
ANNOTATIONS = frozenset(
    {
        *("admission", "allocated", "child-request", "guaranteed", "max-strict-check-resource-keys"),
        *("namespaces", "non-preemptible-request", "non-preemptible-used", "request", "resource-keys"),
        *("runtime", "shared-weight", "total-resource", "unschedulable-resource"),
    }
)
"""Source: `apis/extension/elastic_quota.go` (1.8)."""
OLD_PARENT = f"{PREFIX}parent-quota-name"
_LIKENESS = 0.7


def unread(manifest: Manifest) -> Iterator[Violation]:
    """Those on the wrong side, and those whose name is almost a known one."""
    yield from _of(manifest, "labels", "a label", LABELS, ANNOTATIONS)
    yield from _of(manifest, "annotations", "an annotation", ANNOTATIONS, LABELS)


def _of(
    manifest: Manifest, side: str, what: str, own: frozenset[str], other: frozenset[str]
) -> Iterator[Violation]:
    written = manifest.labels if side == "labels" else manifest.annotations
    opposite = manifest.annotations if side == "labels" else manifest.labels
    for key in written:
        name = key.removeprefix(PREFIX)
        if name == key or name in own or key in opposite or key == OLD_PARENT:
            continue
        path = ("metadata", side, key)
        if name in other:
            right = "annotations" if side == "labels" else "labels"
            message = f"{key} is {what} here, and Koordinator reads it among the {right}"
            yield Violation(path, message, f"move it to the {right}", key=True)
            continue
        near = nearest(name, tuple(sorted(own | other)), _LIKENESS)
        if near:
            message, advice = f"Koordinator does not read {key}", f"did you mean {PREFIX}{near}?"
            yield Violation(path, message, advice, Severity.WARNING, key=True)
