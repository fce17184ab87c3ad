"""The spec of a Job wherever an object of Volcano carries it, with its policies and topologies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, text
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.names import SPECS

TRAINING_GROUP = "training.volcano.sh"
_SUFFIX = "-0000000000"
"""What a CronJob appends to its name: the time."""


class Spec(NamedTuple):
    """The spec of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str = ""
    """Of the Job made from it, as long as it will be; empty: unknown."""


class Task(NamedTuple):
    """A task of a Job."""

    path: Path
    data: Mapping[str, Any]
    name: str
    """As the webhook fills it in."""


def specs(manifest: Manifest) -> Iterator[Spec]:
    """All of an object; none where it carries no Job."""
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


def policy_lists(spec: Spec) -> Iterator[tuple[object, Path]]:
    """The policies of the job and of each of its tasks, and where they stand."""
    yield spec.data.get("policies"), (*spec.path, "policies")
    for task in tasks(spec):
        yield task.data.get("policies"), (*task.path, "policies")


def both_tiers(topology: object, path: Path) -> Iterator[Violation]:
    """Rejected by the webhooks of Jobs and PodGroups (1.14 and 1.15)."""
    if not isinstance(topology, Mapping):
        return
    allowed, name = topology.get("highestTierAllowed"), topology.get("highestTierName")
    if allowed is not None and name not in (None, ""):
        yield Violation(
            (*path, "highestTierName"),
            f"networkTopology has both highestTierAllowed {allowed} and highestTierName {name}: only one is "
            "allowed",
            "remove one of them",
            key=True,
        )


def lacks_tier(topology: object) -> bool:
    """Whether it is hard but names no tier, so that it holds nothing together."""
    if not isinstance(topology, Mapping):
        return False
    tier = topology.get("highestTierAllowed"), topology.get("highestTierName")
    return topology.get("mode") in (None, "", "hard") and all(each in (None, "") for each in tier)


Topologies = Iterator[tuple[Path, object]]
"""Places of `networkTopology`, and what stands there."""


def partition_topologies(spec: Spec) -> Topologies:
    """Those of the partitions of a Job's tasks."""
    for task in tasks(spec):
        policy = task.data.get("partitionPolicy")
        if isinstance(policy, Mapping):
            yield (*task.path, "partitionPolicy", "networkTopology"), policy.get("networkTopology")


def sub_group_topologies(data: Mapping[str, Any]) -> Topologies:
    """Those of the sub-groups of a PodGroup."""
    listed = mapping(data.get("spec")).get("subGroupPolicy")
    for number, policy in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(policy, Mapping):
            yield ("spec", "subGroupPolicy", number, "networkTopology"), policy.get("networkTopology")
