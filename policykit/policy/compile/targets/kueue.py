"""Options for Kueue, compiled."""

from __future__ import annotations

from typing import Any

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.cluster import TargetSettings
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.releases import Release
from policykit.policy.models.targets.kueue import FlavorFungibility, Kueue
from policykit.targets.kueue.options import KueueOptions

_FIRST_PREFERENCE = (0, 15, 0)
_NEXT = "TryNextFlavor"
_DEFAULTS = {"root_cohort": "root", "queueing_strategy": "BestEffortFIFO"}


def compile_options(draft: Draft, path: Path, stated: Kueue, installed: Release | None) -> TargetSettings:
    """KueueOptions with the fields that are not at their default."""
    root = stated.root_cohort
    draft.check((*path, "rootCohort"), f"rootCohort {root!r}", dns_subdomain_problem(root))
    if root in draft.names("queues"):
        draft.problems.error(
            (*path, "rootCohort"),
            f"{root} is also a queue of this policy, which has a cohort of that name",
            "choose another name for the cohort of the queues without a parent",
        )
    found: dict[str, Any] = {
        "root_cohort": root,
        "queueing_strategy": stated.queueing_strategy,
        "fair_sharing": stated.fair_sharing,
        "suspend": stated.suspend,
    }
    if stated.flavor_fungibility:
        found |= _fungibility(draft, (*path, "flavorFungibility"), stated.flavor_fungibility, installed)
    if stated.borrow_within_cohort:
        _check_borrowing(draft, (*path, "borrowWithinCohort"), stated)
        found["borrow_within_cohort"] = True
        found["borrow_threshold"] = stated.borrow_within_cohort.max_priority_threshold
    chosen = {key: value for key, value in found.items() if value is not None and value is not False}
    chosen = {key: value for key, value in chosen.items() if value != _DEFAULTS.get(key)}
    return TargetSettings("kueue", options=KueueOptions(**chosen))


def _fungibility(
    draft: Draft, path: Path, stated: FlavorFungibility, installed: Release | None
) -> dict[str, Any]:
    if stated.preference:
        if installed and installed < _FIRST_PREFERENCE:
            have = ".".join(map(str, installed))
            draft.problems.error(
                (*path, "preference"),
                f"Kueue {have} has no flavorFungibility.preference (added in 0.15)",
                "remove it",
                key=True,
            )
        if not stated.when_can_borrow == stated.when_can_preempt == _NEXT:
            draft.problems.error(
                (*path, "preference"),
                f"preference {stated.preference} with whenCanBorrow {stated.when_can_borrow} and "
                f"whenCanPreempt {stated.when_can_preempt}: Kueue refuses it",
                f"set both to {_NEXT}, or remove preference",
            )
    return {
        "when_can_borrow": stated.when_can_borrow,
        "when_can_preempt": stated.when_can_preempt,
        "preference": stated.preference,
    }


def _check_borrowing(draft: Draft, path: Path, stated: Kueue) -> None:
    preemption = draft.policy.preemption
    if not preemption or not preemption.reclaim:
        draft.problems.error(
            path,
            "borrowWithinCohort without preemption.reclaim: Kueue refuses it",
            "set preemption.reclaim: true, or remove it",
            key=True,
        )
    elif stated.fair_sharing:
        draft.problems.error(
            path,
            "borrowWithinCohort with fairSharing: it works only without fair sharing",
            "remove one of them",
            key=True,
        )
