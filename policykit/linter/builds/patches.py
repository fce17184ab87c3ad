"""Finds a path of a built object in the files and patches that it was built from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.builds.kustomization import FileEntry, Kustomization, Route
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node
from policykit.manifests.path import Path, Step, lookup
from policykit.namedtuple import NamedTuple
from policykit.patterns import pattern

_KEYS = ("name", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "topologyKey")
"""Fields that identify the items of a list, as in kustomize's merge keys."""


class PathMatch(NamedTuple):
    """The part of a path that exists in another text."""

    path: Path
    """Path in that text."""
    node: Node

    def depth(self) -> int:
        return len(self.path)


def match_path(node: Node, data: Any, path: Path) -> PathMatch:
    """Matches a path of built `data` in `node`: list items by their identifying field, else by value."""
    found: list[Step] = []
    for step in path:
        entries, inside = node.entries, _inside(data, step)
        if isinstance(entries, dict) and step in entries:
            node = entries[step][1]
        elif isinstance(entries, list) and isinstance(step, int):
            position = _position(node.data, inside, step)
            if position is None:
                break
            node, step = entries[position], position
        else:
            break
        found.append(step)
        data = inside
    return PathMatch(tuple(found), node)


def existing_part(data: object, path: Path) -> Path:
    """The longest prefix of a path that exists."""
    for length in range(len(path), 0, -1):
        parent, step = lookup(data, path[: length - 1]), path[length - 1]
        if (isinstance(parent, dict) and step in parent) or (
            isinstance(parent, list) and isinstance(step, int) and step < len(parent)
        ):
            return path[:length]
    return ()


def path_of_pointer(data: object, pointer: str) -> Path:
    """The path of a JSON pointer; numbers are indices where `data` has a list."""
    found: list[Step] = []
    for word in pointer.split("/")[1:]:
        step: Step = word.replace("~1", "/").replace("~0", "~")
        if isinstance(data, list) and word.isascii() and word.isdecimal() and len(word) < 10:
            step = int(word)
        found.append(step)
        data = _inside(data, step)
    return tuple(found)


def _inside(data: Any, step: Step) -> Any:
    if isinstance(data, dict):
        return data.get(step)
    return data[step] if isinstance(data, list) and isinstance(step, int) and step < len(data) else None


def _position(items: list[Any], item: Any, step: int) -> int | None:
    """Index of the matching item; of several, the one at the same index, or else the first."""
    same = [number for number, each in enumerate(items) if each == item]
    if not same and isinstance(item, dict):
        for key in _KEYS:
            if isinstance(item.get(key), (str, int)):
                like = (n for n, each in enumerate(items) if isinstance(each, dict) and key in each)
                same = [n for n in like if items[n][key] == item[key]]
                if not same:
                    return None
                break
    if same:
        return step if step in same else same[0]
    # Lists of one item within other lists, such as terms of a selector, which merging does not change.
    return 0 if len(items) == 1 and type(items[0]) is type(item) and isinstance(item, (dict, list)) else None


def applied_patches(way: Route) -> Iterator[tuple[Route, FileEntry]]:
    """Patches of the kustomizations on a route, the last applied first, each with its own route."""
    for number, (tree, _) in enumerate(way):
        yield from _of(tree, way[:number])


def _of(tree: Kustomization, before: Route) -> Iterator[tuple[Route, FileEntry]]:
    for patch in reversed(tree.patches):
        yield (*before, (tree, patch.at)), patch
    for below in reversed(tree.components):
        yield from _of(below.tree, (*before, (tree, below.at)))


class Operation(NamedTuple):
    """An operation of a JSON patch that sets a value."""

    to: Path
    """Path in the object, as written."""
    value: Node
    at: Path
    """Path of the value in the patch."""


def operations(root: Node) -> Iterator[Operation]:
    """The operations of a JSON patch that set a value, last one first."""
    if not isinstance(root.data, list):
        return
    for number, each in reversed([*enumerate(root.entries)]):
        said, entries = each.data, each.entries
        if isinstance(said, dict) and said.get("op") in ("add", "replace") and "value" in entries:
            to = said.get("path")
            if isinstance(to, str):
                words = (word.replace("~1", "/").replace("~0", "~") for word in to.split("/")[1:])
                yield Operation(tuple(words), entries["value"][1], (number, "value"))


def match_operation(operation: Operation, data: object, path: Path) -> PathMatch | None:
    """The match of a path of a built object in the value of an operation; None: there is none."""
    to = operation.to
    if len(to) > len(path):
        return None
    for word, step in zip(to, path, strict=False):
        if word != str(step) and not (word == "-" and isinstance(step, int)):
            return None
    inside = lookup(data, path[: len(to)])
    if "-" in to and operation.value.data != inside:
        return None
    found = match_path(operation.value, inside, path[len(to) :])
    return PathMatch((*operation.at, *found.path), found.node)


def is_for(target: Mapping[str, str] | None, patch: Manifest | None, home: Manifest, built: Manifest) -> bool:
    """Whether a patch applies to an object, by kind and name before and after the build."""
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
