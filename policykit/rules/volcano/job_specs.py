"""The spec of a Job wherever an object of Volcano carries it, and the topology that its pods stay within."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.linter.rule import Violation
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


def both_tiers(bound: object, path: Path) -> Iterator[Violation]:
    """Refused by the webhooks of Jobs and PodGroups (1.14 and 1.15)."""
    if not isinstance(bound, Mapping):
        return
    allowed, name = bound.get("highestTierAllowed"), bound.get("highestTierName")
    if allowed is not None and name not in (None, ""):
        yield Violation(
            (*path, "highestTierName"),
            f"networkTopology has highestTierAllowed {allowed} and highestTierName {name}: it may have one",
            "take one of them out",
            key=True,
        )


def unbounded(bound: object) -> bool:
    """Hard, and without the tier that it should hold within: nothing is held."""
    if not isinstance(bound, Mapping):
        return False
    tier = bound.get("highestTierAllowed"), bound.get("highestTierName")
    return bound.get("mode") in (None, "", "hard") and all(each in (None, "") for each in tier)


Bounds = Iterator[tuple[Path, object]]
"""Places of bounds, and what stands there."""


def of_job(spec: Spec) -> Bounds:
    """A Job's own."""
    yield (*spec.path, "networkTopology"), spec.data.get("networkTopology")


def of_partitions(spec: Spec) -> Bounds:
    """Those of its tasks' partitions."""
    for task in tasks(spec):
        policy = task.data.get("partitionPolicy")
        if isinstance(policy, Mapping):
            yield (*task.path, "partitionPolicy", "networkTopology"), policy.get("networkTopology")


def of_group(data: Mapping[str, Any]) -> Bounds:
    """A PodGroup's own."""
    yield ("spec", "networkTopology"), mapping(data.get("spec")).get("networkTopology")


def of_sub_groups(data: Mapping[str, Any]) -> Bounds:
    """Those of its sub-groups."""
    listed = mapping(data.get("spec")).get("subGroupPolicy")
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(policy, Mapping):
            yield ("spec", "subGroupPolicy", number, "networkTopology"), policy.get("networkTopology")
