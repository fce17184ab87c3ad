"""`networkTopology` of jobs and groups, and of their parts: one tier, and one at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.targets.volcano.checks.specs import Spec, tasks


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
