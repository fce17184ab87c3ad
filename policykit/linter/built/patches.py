"""The patches that made an object what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit.linter.built.follow import Followed, follow
from policykit.linter.built.tree import Listed, Tree, Way
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node
from policykit.manifests.path import Path, lookup
from policykit.patterns import pattern


def applied(way: Way) -> Iterator[tuple[Way, Listed]]:
    """Patches of the kustomizations on a way, the one that had the last word first, each with its own way."""
    for number, (tree, _) in enumerate(way):
        yield from _of(tree, way[:number])


def _of(tree: Tree, before: Way) -> Iterator[tuple[Way, Listed]]:
    for patch in reversed(tree.patches):
        yield (*before, (tree, patch.at)), patch
    for below in reversed(tree.components):
        yield from _of(below.tree, (*before, (tree, below.at)))


class Operation(NamedTuple):
    """What a JSON patch puts at a place."""

    to: Path
    """Where in the object, as written."""
    value: Node
    at: Path
    """Where the value stands in the patch."""


def operations(root: Node) -> Iterator[Operation]:
    """Those of a JSON patch that put something somewhere, the last one first."""
    if not isinstance(root.data, list):
        return
    for number, each in reversed([*enumerate(root.entries)]):
        said, entries = each.data, each.entries
        if isinstance(said, dict) and said.get("op") in ("add", "replace") and "value" in entries:
            to = said.get("path")
            if isinstance(to, str):
                words = (word.replace("~1", "/").replace("~0", "~") for word in to.split("/")[1:])
                yield Operation(tuple(words), entries["value"][1], (number, "value"))


def through(operation: Operation, data: object, path: Path) -> Followed | None:
    """Where a path of the built object stands in what an operation puts; None: not there."""
    to = operation.to
    if len(to) > len(path):
        return None
    for word, step in zip(to, path, strict=False):
        if word != str(step) and not (word == "-" and isinstance(step, int)):
            return None
    inside = lookup(data, path[: len(to)])
    if "-" in to and operation.value.data != inside:
        return None
    found = follow(operation.value, inside, path[len(to) :])
    return Followed((*operation.at, *found.path), found.node)


def is_for(target: Mapping[str, str] | None, patch: Manifest | None, home: Manifest, built: Manifest) -> bool:
    """Whether a patch is for an object, told by kind and name as they were and as they are."""
    if target is None:
        if patch is None or patch.kind != home.kind:
            return False
        return patch.name in (home.name, built.name) or (
            home.name in patch.name and patch.name in built.name and bool(home.name)
        )
    if target.get("kind", home.kind) != home.kind or target.get("group", home.group) != home.group:
        return False
    name = target.get("name", "")
    return not name or any(_matches(name, each) for each in (home.name, built.name))


def _matches(wanted: str, name: str) -> bool:
    form = pattern(wanted, whole=True)
    return bool(form.search(name)) if form else wanted == name
