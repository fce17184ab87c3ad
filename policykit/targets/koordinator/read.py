"""Finds all of Koordinator's objects in a text, with their locations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.embedded import strings
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.targets.koordinator.objects.generate import READERS
from policykit.targets.koordinator.scheduler import configuration
from policykit.targets.koordinator.versions import GROUP
from policykit.targets.reading import Read

_READERS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {
    (GROUP, configuration.KIND): configuration.read,
    **{(api.partition("/")[0], kind): reader for kind, (api, reader) in READERS.items()},
}
_KINDS = tuple(kind for _, kind in _READERS)


def read(text: str) -> list[Read[Any]]:
    """All of a text's objects in its order: of documents, of Lists, of strings in ConfigMaps and Helm values.

    Values are those of `configuration.read` and of the readers of `objects`. What is not YAML is passed
    over, and so is an object of a kind without a reader.
    """
    found: list[Read[Any]] = []
    for number, document in enumerate(parse(text)):
        if document.root is not None:
            found += (Read(value, number, each.base) for each, value in _objects(document.root, number))
            found += _inside(document.root, number)
    return found


def _objects(root: Node, number: int) -> Iterator[tuple[Manifest, Any]]:
    for manifest in manifests(root, number):
        reader = _READERS.get((manifest.group, manifest.kind))
        value = reader(manifest.data) if reader else None
        if value is not None:
            yield manifest, value


def _inside(root: Node, number: int) -> Iterator[Read[Any]]:
    """Objects in strings; of a string with several documents each stands below its own root."""
    for path, node in strings(root):
        if not any(kind in node.data for kind in _KINDS):
            continue
        for inner, document in enumerate(parse(node.data)):
            if document.root is not None:
                for manifest, value in _objects(document.root, inner):
                    yield Read(value, number, path, manifest.base)
