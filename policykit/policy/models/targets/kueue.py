"""Options for Kueue."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model, TargetOptions


class FlavorFungibility(Model):
    """When the next flavor is tried instead of borrowing or preempting in this one."""

    when_can_borrow: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "MayStopSearch", description="Where a workload fits by borrowing. Before 0.15 written as Borrow."
    )
    when_can_preempt: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "TryNextFlavor", description="Where it fits by preempting. Before 0.15 written as Preempt."
    )
    preference: Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"] | None = Field(
        None, description="Between flavors that need either; both others must be TryNextFlavor. From 0.15."
    )


class BorrowWithinCohort(Model):
    """Workloads that borrow may preempt workloads with lower priority in the cohort."""

    max_priority_threshold: int | None = Field(
        None, description="The highest priority they may preempt. Default: any below their own."
    )


class Kueue(TargetOptions):
    """Kueue: admits jobs by quota, in front of the scheduler that places their pods."""

    delivery: Literal["manifest"] = Field("manifest", description="Objects to apply.")
    root_cohort: str = Field("root", description="Cohort of the queues without a parent.")
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = Field(
        "BestEffortFIFO",
        description="StrictFIFO: a workload that does not fit blocks those behind it in its queue.",
    )
    fair_sharing: bool = Field(
        False, description="Fair sharing is enabled in Kueue's Configuration: weights of queues count."
    )
    flavor_fungibility: FlavorFungibility | None = Field(
        None, description="When the next flavor is tried. Default: Kueue's."
    )
    borrow_within_cohort: BorrowWithinCohort | None = Field(
        None,
        description="Workloads that borrow preempt others in the cohort. Needs preemption.reclaim, and no "
        "fairSharing.",
    )
    suspend: bool = Field(
        False,
        description="`patch` writes suspend: true on jobs. Kueue's webhook sets it when a job is created; "
        "in a manifest, it restarts an admitted job each time the manifest is applied.",
    )
