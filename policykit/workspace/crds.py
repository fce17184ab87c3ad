"""The user's own kinds: CustomResourceDefinitions in files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.errors import SourceError
from policykit.workspace import boundary
from policykit.workspace.files import read, walk

if TYPE_CHECKING:
    from policykit.kube.structure.schema import Schema

_KIND = b"CustomResourceDefinition"


def custom_kinds_of(paths: Iterable[str], by: str = "") -> Mapping[tuple[str, str], Schema]:
    """apiVersion and kind to the schema, of every definition in files and below folders.

    `by`: the policy or settings file that names them, if one does. Of a definition in several files
    the last counts. Raises SourceError for a path that does not exist or cannot be read, for text that
    is neither YAML nor JSON in a file that speaks of definitions, and for a path without any.
    """
    from policykit.kube.structure.crd import custom_kinds

    found: dict[tuple[str, str], Schema] = {}
    for path in paths:
        kinds = [kind for document in _documents(path, by) for kind in custom_kinds(document)]
        if not kinds:
            raise SourceError(
                "contains no CustomResourceDefinition", "pass files or folders that contain some", path
            )
        found.update(((kind.api_version, kind.kind), kind.schema) for kind in kinds)
    return found


def _documents(path: str, by: str) -> Iterator[Any]:
    folder = os.path.isdir(path)
    if folder and by:
        boundary.readable(path, by)
    elif folder:
        boundary.add_argument(path)
    for file in walk(path) if folder else (path,):
        raw = read(file, by)
        if _KIND in raw:
            yield from _objects(file, raw)


def _objects(file: str, raw: bytes) -> Iterator[Any]:
    from policykit.manifests.document import manifests
    from policykit.manifests.parser import parse

    for index, parsed in enumerate(parse(raw.decode("utf-8", "replace"))):
        if parsed.problem:
            raise SourceError("is not YAML", "fix the file, or pass another one", file)
        if parsed.root is not None:
            yield from (manifest.data for manifest in manifests(parsed.root, index))
