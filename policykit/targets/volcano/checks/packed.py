"""Weights of resources that count only where a list names the resource too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Fix, Violation
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.severity import Applicability
from policykit.targets.volcano.checks.listing import Listed, plugins

LISTS = {
    "binpack": "binpack.resources",
    "network-topology-aware": "hypernode.binpack.resources",
}
"""Plugin to the argument that lists resources; their weights stand under it, a dot and the resource."""


def resources(plugin: Listed) -> tuple[str, ...]:
    """Resources that the plugin's list names."""
    written = plugin.arguments.get(LISTS[plugin.name])
    return tuple(name.strip() for name in written.split(",")) if isinstance(written, str) else ()


def unlisted(data: Mapping[str, Any]) -> Iterator[Violation]:
    """Weights of resources that the list leaves out. Source: `plugins/binpack` (1.8 to 1.15)."""
    for plugin in plugins(data).listed:
        key = LISTS.get(plugin.name)
        if key is None or is_placeholder(plugin.arguments.get(key)):
            continue
        listed, path = resources(plugin), (*plugin.path, "arguments")
        for written in plugin.arguments:
            resource = written.removeprefix(f"{key}.") if isinstance(written, str) else ""
            if resource and resource != written and resource not in listed:
                yield Violation(
                    (*path, written),
                    f"plugin {plugin.name} does not read {written}: {key} does not list {resource}",
                    f"add {resource} to {key}",
                    key=True,
                    fix=partial(_fix, (*path, key), ", ".join((*filter(None, listed), resource))),
                )


def _fix(path: Path, value: str) -> Fix:
    return Fix(f"write {value} as {path[-1]}", (Patch("add", path, value),), Applicability.UNSAFE)
