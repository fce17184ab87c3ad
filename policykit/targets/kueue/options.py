"""Options for Kueue: what only Kueue has, and the rest of the policy cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster
from policykit.targets.kueue.names import SYSTEM

ROOT_COHORT = "root"


class KueueOptions(NamedTuple):
    """Options for Kueue."""

    root_cohort: str = ROOT_COHORT
    """Cohort above the queues without a parent."""
    queueing_strategy: str = ""
    """StrictFIFO or BestEffortFIFO, of every queue; empty: Kueue's default."""
    fair_sharing: bool = False
    """Fair sharing is enabled in Kueue's Configuration, so weights are read."""
    when_can_borrow: str = ""
    """MayStopSearch or TryNextFlavor, under their names since 0.15."""
    when_can_preempt: str = ""
    preference: str = ""
    borrow_within_cohort: bool = False
    """Workloads that borrow preempt those with lower priority in the cohort."""
    borrow_threshold: int | None = None
    """The highest priority they preempt."""
    suspend: bool = False
    """`patch` writes suspend: true on jobs."""


def of(cluster: Cluster) -> KueueOptions:
    """Those of the policy; the defaults where it has no target Kueue."""
    target = cluster.targets.get(SYSTEM)
    return from_data(target.options) if target else KueueOptions()


def from_data(options: Mapping[str, Any]) -> KueueOptions:
    """The options as the compiled policy has them: names of fields to values."""
    return KueueOptions(**options)
