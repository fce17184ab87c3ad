"""The command line of a container, and the file of a ConfigMap that it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text
from policykit.namedtuple import NamedTuple

CONFIG = "--config"


Argument = tuple[str, Path]
"""An item of `command` or `args`, and its path below the container: ("args", 0)."""


class ConfigMapKey(NamedTuple):
    """A file that a container mounts from a ConfigMap under the name of its key."""

    name: str
    """Of the ConfigMap."""
    key: str
    optional: bool
    """Whether the pod starts without the ConfigMap."""
    path: Path
    """The argument that names the file, below the container."""


def arguments(container: Mapping[str, Any]) -> tuple[Argument, ...]:
    """The items of `command`, then of `args`; those that are not text are left out."""
    found: list[Argument] = []
    for part in ("command", "args"):
        items = container.get(part)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, str):
                found.append((item, (part, number)))
    return tuple(found)


def configuration(
    container: Mapping[str, Any], spec: Mapping[str, Any], flag: str = CONFIG
) -> ConfigMapKey | None:
    """The file of the last `--config FILE` or `--config=FILE`, where a ConfigMap without `items` has it.

    `spec`: of the pod.
    """
    stated = last_flag(arguments(container), flag)
    if stated is None:
        return None
    file, path = stated
    folder, _, key = file.rpartition("/")
    volumes = {
        text(each.get("name")): mapping(each.get("configMap")) for each in mappings(spec.get("volumes"))
    }
    for mount in mappings(container.get("volumeMounts")):
        source = volumes.get(text(mount.get("name")), {})
        name = "" if source.get("items") else text(source.get("name"))
        whole = not mount.get("subPath") and not mount.get("subPathExpr")
        if whole and key and name and text(mount.get("mountPath")).rstrip("/") == folder:
            return ConfigMapKey(name, key, bool(source.get("optional")), path)
    return None


def last_flag(words: tuple[Argument, ...], flag: str) -> Argument | None:
    """The value of the last flag of a name, at the argument that has it."""
    for word, following in zip(reversed(words), (None, *reversed(words[1:])), strict=False):
        name, sign, value = word[0].partition("=")
        if name == flag and (sign or following):
            return (value, word[1]) if sign else following
    return None
