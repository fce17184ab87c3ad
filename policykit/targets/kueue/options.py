"""Options for Kueue in a policy, for features that only Kueue has."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.targets.kueue.names import TARGET_NAME

ROOT_COHORT = "root"


class KueueOptions(NamedTuple):
    """Options of the target."""

    root_cohort: str = ROOT_COHORT
    """Name of the cohort above queues without a parent."""
    queueing_strategy: str = ""
    """StrictFIFO or BestEffortFIFO, for every queue; empty: Kueue's default."""
    fair_sharing: bool = False
    """Whether fair sharing is enabled in Kueue's Configuration, so that weights are read."""
    when_can_borrow: str = ""
    """MayStopSearch or TryNextFlavor, the names since 0.15."""
    when_can_preempt: str = ""
    preference: str = ""
    borrow_within_cohort: bool = False
    """Whether workloads that borrow preempt those with lower priority in the cohort."""
    borrow_threshold: int | None = None
    """The highest priority they preempt."""
    suspend: bool = False
    """Whether `patch` sets suspend: true on jobs."""


def kueue_options(cluster: Cluster) -> KueueOptions:
    """The options of a compiled policy; the defaults if Kueue is not one of its targets."""
    settings = cluster.targets.get(TARGET_NAME)
    stated = settings.options if settings else None
    return stated if isinstance(stated, KueueOptions) else KueueOptions()
