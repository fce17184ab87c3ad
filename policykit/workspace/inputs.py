"""Input files of commands: existing configurations, Node objects and CustomResourceDefinitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.errors import SourceError
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.files import SUFFIXES, read, walk

if TYPE_CHECKING:
    from policykit.kube.structure.schema import Schema
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Pool


_GENERATED = (".sh", ".env", ".md")
"""Suffixes of generated files that are read in folders."""
_NEVER = frozenset({".hg", ".svn", ".venv", "node_modules"})
_KIND = b"CustomResourceDefinition"


def read_inputs(paths: Iterable[str]) -> dict[str, bytes]:
    """Path to content, in the order given; files of folders by name; `-` is standard input.

    Raises SourceError for a path that does not exist or cannot be read.
    """
    found: dict[str, bytes] = {}
    for path in paths:
        if path == "-":
            found["<stdin>"] = stdin()
        elif filesystem.isdir(path):
            found.update(_below(path))
        else:
            found[path.replace(os.sep, "/")] = read(path)
    return found


def stdin() -> bytes:
    """The bytes of standard input. Raises SourceError if it is closed."""
    if sys.stdin is None:
        raise SourceError("standard input is closed", "redirect a file or pipe a command into it")
    return sys.stdin.buffer.read()


def _below(folder: str) -> Iterator[tuple[str, bytes]]:
    from policykit.generator.header import owner

    safe_paths.readable(folder)
    safe_paths.add_argument(folder)
    for here, folders, names in filesystem.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NEVER and not safe_paths.names_git(name))
        for name in sorted(names):
            path = os.path.join(here, name)
            if name.endswith(SUFFIXES):
                yield path.replace(os.sep, "/"), read(path)
            elif name.endswith(_GENERATED):
                raw = read(path)
                if owner(raw.decode("utf-8", errors="replace")):
                    yield path.replace(os.sep, "/"), raw


def cluster_of_nodes(path: str) -> Cluster:
    """One pool per Node object in a file (JSON or YAML, a List or many documents).

    Raises SourceError for a file without Node objects, and at the first syntax error.
    """
    return cluster_of_text(read(path), path)


def cluster_of_text(raw: bytes, path: str) -> Cluster:
    """The same for the content of a file; `path` is used in error messages."""
    from policykit.importer.files import objects, text
    from policykit.kube.nodes import read as read_node
    from policykit.model.cluster import Cluster

    pools: dict[str, Pool] = {}
    for manifest in objects(text(raw, path), path):
        if manifest.kind == "Node":
            node = read_node(manifest.data)
            pools.setdefault(node.name, node)
    if not pools:
        raise SourceError("contains no Node objects", "pass the output of `kubectl get nodes -o json`", path)
    return Cluster("nodes", tuple(pools.values()), observed=True, complete=True, source=path)


def custom_kinds_of(paths: Iterable[str], by: str = "") -> Mapping[tuple[str, str], Schema]:
    """apiVersion and kind to the schema, of every definition in files and below folders.

    `by`: the policy or settings file that names them, if any. If several files have the same definition,
    the last counts. Raises SourceError for a path that does not exist or cannot be read, for invalid YAML
    or JSON in a file that mentions definitions, and for a path without any.
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
    folder = filesystem.isdir(path)
    if folder and by:
        safe_paths.readable(path, by)
    elif folder:
        safe_paths.add_argument(path)
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
