"""Configuration documents that stand inside strings of other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Node, Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path

CONFIGURATIONS = frozenset({"KubeSchedulerConfiguration"})
"""Kinds that no API server serves: they live in ConfigMaps and Helm values."""

Inner = tuple[Manifest, Path, Callable[[Span], Span]]
"""An inner document, the path of the string that holds it, and how its spans map to the file."""


def inner_manifests(manifest: Manifest, text: str) -> Iterator[Inner]:
    """Configurations inside the data of a ConfigMap; `text` is the whole file."""
    data = manifest.data.get("data")
    if manifest.kind != "ConfigMap" or not isinstance(data, dict):
        return
    for key, value in data.items():
        if not isinstance(value, str) or not any(kind in value for kind in CONFIGURATIONS):
            continue
        path = ("data", key)
        node: Node = manifest.node.entries["data"][1].entries[key][1]
        relocate = _relocation(text, path, node)
        for index, document in enumerate(parse(value)):
            if document.root is not None and not document.problem:
                for inner in manifests(document.root, index):
                    yield inner, path, relocate


def _relocation(text: str, path: Path, node: Node) -> Callable[[Span], Span]:
    from policykit.manifests.embedded import embedded

    inside = embedded(text, path, node)

    def relocate(span: Span) -> Span:
        line, column = inside.place(text, span.line - 1, span.column - 1)
        end_line, end_column = inside.place(text, span.end_line - 1, span.end_column - 1)
        return Span(line + 1, column + 1, end_line + 1, end_column + 1)

    return relocate
