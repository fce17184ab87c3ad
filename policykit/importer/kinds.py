"""Workload kinds as a policy states them: gang, topology, placement and autoscaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.durations import duration
from policykit.importer.said import said
from policykit.model.autoscaling import Autoscaling, Metric, ScaleTarget
from policykit.model.gang import GangRule
from policykit.model.placement import Placement
from policykit.model.topology import Apartness, Closeness
from policykit.model.workload import WorkloadKind


def kind(found: WorkloadKind, placements: Mapping[str, Placement]) -> dict[str, Any]:
    """What is said of a kind beyond where it may run; keys in the order of the policy format."""
    named = placements.get(found.placement_name)
    follows = named is not None and found.scheduler == named.scheduler
    return said(
        scheduler="" if follows else found.scheduler,
        gang=_gang(found.gang, found.gang_rule),
        within=_within(found.within),
        across=_across(found.across),
        placement=found.placement_name or found.placement,
        priorityClass=found.priority_class,
        queue=found.queue,
        namespaces=found.namespaces,
        autoscaling=_autoscaling(found.autoscaling),
    )


def _gang(gang: str, rule: GangRule | None) -> str | dict[str, Any]:
    if rule is None or rule == GangRule():
        return gang
    return said(
        size=rule.size,
        timeout=duration(rule.timeout) if rule.timeout else None,
        onTimeout=rule.on_timeout,
    )


def _within(found: Closeness | None) -> dict[str, Any] | None:
    return said(level=found.level, mode="hard" if found.hard else "") if found else None


def _across(found: Apartness | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return said(
        level=found.level,
        mode="hard" if found.hard else "",
        skew=found.skew if found.skew != 1 else None,
    )


def _autoscaling(found: Autoscaling | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return said(
        min=found.minimum if found.minimum != 1 else None,
        max=found.maximum,
        metrics=[_metric(each) for each in found.metrics],
        targets=[_target(each) for each in found.targets],
        cooldown=duration(found.cooldown) if found.cooldown else None,
    )


def _metric(found: Metric) -> dict[str, Any]:
    return said(**{found.source: found.name}, utilization=found.utilization, average=found.average)


def _target(found: ScaleTarget) -> dict[str, Any]:
    return said(
        kind=found.kind,
        apiVersion=found.api_version if found.api_version != "apps/v1" else "",
        name=found.name,
        namespace=found.namespace,
    )
