"""Where objects of Volcano carry the spec of a Job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text
from policykit.targets.volcano.names import SPECS

TRAINING_GROUP = "training.volcano.sh"
_SUFFIX = "-0000000000"
"""What a CronJob puts behind its name: the time."""


class Spec(NamedTuple):
    """The spec of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str = ""
    """Of the Job that it makes, as long as that will be; empty: unknown."""


class Task(NamedTuple):
    """A task of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str
    """As the webhook fills it in."""


def specs(manifest: Manifest) -> Iterator[Spec]:
    """All of an object; nothing for objects that hold none."""
    if manifest.group == TRAINING_GROUP and manifest.kind == "HyperJob":
        listed = lookup(manifest.data, ("spec", "replicatedJobs"))
        for number, item in enumerate(listed if isinstance(listed, list) else ()):
            if found := mapping(mapping(item).get("templateSpec")):
                yield Spec(("spec", "replicatedJobs", number, "templateSpec"), found)
        return
    path = SPECS.get((manifest.group, manifest.kind))
    found = mapping(lookup(manifest.data, path)) if path else {}
    if path and found:
        yield Spec(path, found, _name(manifest))


def _name(manifest: Manifest) -> str:
    if not manifest.name or manifest.kind == "JobTemplate":
        return ""
    return manifest.name + (_SUFFIX if manifest.kind == "CronJob" else "")


def tasks(spec: Spec) -> list[Task]:
    """Items that are maps, with the names they get."""
    listed = spec.data.get("tasks")
    return [
        Task((*spec.path, "tasks", number), item, text(item.get("name")) or f"default{number}")
        for number, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, Mapping)
    ]
