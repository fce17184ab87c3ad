"""A place in an object that stays the same when list items change their order."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests.path import Step

_NAMES = ("name", "key")
"""What tells the items of a list apart, the first that an item has: containers, variables and tasks
have names; tolerations, taints and expressions have keys."""


def field(data: object, path: Sequence[Step]) -> str:
    """("spec", "containers", 0, "image") is /spec/containers[main]/image.

    Items without a name are not told apart: a baseline counts its findings. Steps that are not
    there are kept as written.
    """
    text = ""
    for step in path:
        below = _below(data, step)
        if isinstance(step, int):
            text += f"[{_name(below)}]"
        else:
            text += "/" + step.replace("~", "~0").replace("/", "~1")
        data = below
    return text


def _below(data: object, step: Step) -> object:
    if isinstance(data, dict):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
        return data[step]
    return None


def _name(item: object) -> str:
    if isinstance(item, dict):
        for key in _NAMES:
            if isinstance(item.get(key), str):
                return str(item[key])
    return ""
