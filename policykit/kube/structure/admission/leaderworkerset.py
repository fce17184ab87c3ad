"""Sizes of the groups of a LeaderWorkerSet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube.structure.admission.values import Data, not_below, number, refused
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem

_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_UPDATE: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")


def leader_worker_set(data: Data) -> Iterator[Problem]:
    """Source: `generalValidate` of LeaderWorkerSet's webhook (v0.8)."""
    spec, template = data.get("spec"), lookup(data, _TEMPLATE)
    if not isinstance(spec, Mapping) or not isinstance(template, Mapping):
        return
    who = "LeaderWorkerSet's webhook refuses it"
    yield from not_below(spec, ("spec",), "replicas", 0, who)
    yield from not_below(template, _TEMPLATE, "size", 1, who)
    policy = template.get("subGroupPolicy")
    if isinstance(policy, Mapping):
        yield from _divided(policy, number(template.get("size", 1)))
    update = lookup(data, _UPDATE)
    if isinstance(update, Mapping) and all(update.get(each) in (0, "0%") for each in _REPLACED):
        advice = "raise maxSurge or maxUnavailable"
        yield refused(_UPDATE, "allows neither a group more nor one less", advice)


def _divided(policy: Data, size: int | None) -> Iterator[Problem]:
    """A subgroup takes an equal share of all pods, or of those without the leader."""
    path: Path = (*_TEMPLATE, "subGroupPolicy")
    part = number(policy.get("subGroupSize"))
    yield from not_below(policy, path, "subGroupSize", 1, "LeaderWorkerSet's webhook refuses it")
    if part is None or size is None or part < 1 or size < 1:
        return
    excluded = policy.get("subGroupPolicyType") == "LeaderExcluded"
    if (size - 1) % part and (excluded or size % part):
        sizes = f"{size - 1}" if excluded else f"size {size} nor size - 1"
        yield refused(
            (*path, "subGroupSize"),
            f"is {part}, which divides neither {sizes}"
            if not excluded
            else f"is {part}, which does not divide {sizes}",
            "write a divisor of size or of size - 1",
        )


_REPLACED = ("maxSurge", "maxUnavailable")
