"""Following a path from a built object into a text that it was made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from policykit.manifests.node import Node
from policykit.manifests.path import Path, Step, lookup

_KEYS = ("name", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "topologyKey")
"""Fields that tell the items of a list apart, as kustomize merges them or people do."""


class Followed(NamedTuple):
    """How far a path leads in another text."""

    path: Path
    """The part that exists, as its steps are there."""
    node: Node

    def depth(self) -> int:
        return len(self.path)


def follow(node: Node, data: Any, path: Path) -> Followed:
    """Leads a path of built `data` into `node`: items of lists by what tells them apart, else by value."""
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
    return Followed(tuple(found), node)


def existing(data: object, path: Path) -> Path:
    """The longest beginning of a path that exists."""
    for length in range(len(path), 0, -1):
        parent, step = lookup(data, path[: length - 1]), path[length - 1]
        if (isinstance(parent, dict) and step in parent) or (
            isinstance(parent, list) and isinstance(step, int) and step < len(parent)
        ):
            return path[:length]
    return ()


def steps(data: object, pointer: str) -> Path:
    """The path that a JSON pointer means: numbers are positions where `data` has a list."""
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
    """Of the like of an item; of several the one that stands where it stands, else the first."""
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
    # Lists of one item within other lists: terms of a selector that a merge has left alone.
    return 0 if len(items) == 1 and type(items[0]) is type(item) and isinstance(item, (dict, list)) else None
