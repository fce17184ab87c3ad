"""Options for Kueue: what only Kueue has, and the rest of the policy cannot say."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue.names import TARGET_NAME

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
    """Those of the policy; the defaults if Kueue is not one of its targets."""
    settings = cluster.targets.get(TARGET_NAME)
    stated = settings.options if settings else None
    return stated if isinstance(stated, KueueOptions) else KueueOptions()
