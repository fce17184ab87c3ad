"""The Kubernetes objects in a file: YAML documents, Lists or JSON arrays."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.errors import SourceError
from policykit.linter.reader import decode
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.node import Node
from policykit.manifests.parser import parse

_LIST = "List"


def text(raw: bytes, path: str) -> str:
    """Raises SourceError for bytes that are not UTF-8."""
    decoded = decode(raw)
    if decoded.problem:
        raise SourceError(decoded.problem.message, "save it as UTF-8", path)
    return decoded.text


def objects(source: str, path: str) -> Iterator[Manifest]:
    """Every object of a file, from documents, Lists and JSON arrays.

    Raises SourceError at the first syntax error.
    """
    for number, document in enumerate(parse(source)):
        if document.problem:
            place = f"{path}:{document.problem.line + 1}:{document.problem.column + 1}"
            several = number and source.lstrip().startswith("{")
            hint = (
                "separate the objects with ---, or wrap them in one List"
                if several
                else "check that the file is complete"
            )
            raise SourceError(f"not YAML: {document.problem.message}", hint, place)
        if document.root is not None:
            yield from _objects(document.root, number)


def _objects(root: Node, number: int) -> Iterator[Manifest]:
    if isinstance(root.data, list):
        for item in root.entries:
            yield from manifests(item, number)
        return
    kind = root.data.get("kind") if isinstance(root.data, dict) else None
    items = kind.removesuffix(_LIST) if isinstance(kind, str) and kind.endswith(_LIST) else ""
    # In a NodeList from an API server, items have no kind.
    stated = {"kind": items, "apiVersion": root.data.get("apiVersion")} if items else {}
    for manifest in manifests(root, number):
        yield manifest if manifest.kind else manifest._replace(data={**stated, **manifest.data})
