"""When Karpenter may remove the nodes of a NodePool."""

from __future__ import annotations

from collections.abc import Iterator

from policykit import durations
from policykit.kube import cron
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, refused
from policykit.kube.structure.problem import BAD_VALUE, INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.severity import Severity

_WHO = "the API server refuses it"
_DISRUPTION: Path = ("spec", "disruption")
_BUDGETS: Path = (*_DISRUPTION, "budgets")
_REASONS = ("Underutilized", "Empty", "Drifted")
_NONE = ("0", "0%")
_DAY = 24 * 3600


def disruption(data: Data) -> Iterator[Problem]:
    """Source: `nodepool.go` and the CRD of Karpenter (v0.32 to 1.14)."""
    stated = mapping(lookup(data, _DISRUPTION))
    if data.get("apiVersion") == "karpenter.sh/v1beta1":
        yield from _consolidation(stated)
    budgets = [*numbered(stated.get("budgets"))]
    for position, budget in budgets:
        there = [field for field in ("schedule", "duration") if budget.get(field) is not None]
        if len(there) == 1:
            other = "duration" if there == ["schedule"] else "schedule"
            what = f"needs {other} beside it"
            where = (*_BUDGETS, position, there[0])
            yield refused(where, what, f"add {other}: {_WHO}", key=True, kind=INCONSISTENT)
        schedule = budget.get("schedule")
        stated_one = isinstance(schedule, str) and schedule and not is_filled_in(schedule)
        if stated_one and (wrong := cron.problem(str(schedule))):
            advice = "correct it: until Karpenter can read it, it disrupts no node of the pool"
            yield refused((*_BUDGETS, position, "schedule"), wrong, advice, kind=BAD_VALUE)
    yield from _without_limit(budgets)


def _consolidation(stated: Data) -> Iterator[Problem]:
    """The default of the policy is WhenUnderutilized."""
    policy, after = stated.get("consolidationPolicy", "WhenUnderutilized"), stated.get("consolidateAfter")
    where = (*_DISRUPTION, "consolidateAfter")
    if policy == "WhenUnderutilized" and isinstance(after, str) and after != "Never":
        what = "conflicts with WhenUnderutilized, which waits for no time in v1beta1"
        yield refused(where, what, f"delete it, or migrate to karpenter.sh/v1: {_WHO}", key=True)
    if policy == "WhenEmpty" and after is None:
        what = "is WhenEmpty, which needs consolidateAfter in v1beta1"
        policy_at = (*_DISRUPTION, "consolidationPolicy")
        yield refused(policy_at, what, f"add consolidateAfter: {_WHO}", kind=INCONSISTENT)


def _without_limit(budgets: list[tuple[int, Data]]) -> Iterator[Problem]:
    """A schedule of some nodes, beside no budget for the rest of the day: at the first of the first reason.

    Only schedules of one hour are judged: others may follow each other without a break.
    """
    for reason in _REASONS:
        of_it = [(position, each) for position, each in budgets if _covers(each, reason)]
        lengths = [_length(each) for _, each in of_it]
        allowing = [position for position, each in of_it if each.get("nodes") not in _NONE]
        if not allowing or None in lengths or sum(length or 0 for length in lengths) >= _DAY:
            continue
        yield refused(
            (*_BUDGETS, allowing[0], "schedule"),
            f"is the only time that the number of nodes is limited for the reason {reason}: a budget limits "
            "nothing outside its schedule",
            "add a budget without a schedule for all other times, such as nodes: 10%",
            Severity.WARNING,
        )
        return


def _covers(budget: Data, reason: str) -> bool:
    reasons = budget.get("reasons")
    return reasons is None or (isinstance(reasons, list) and reason in reasons)


def _length(budget: Data) -> int | None:
    """Seconds a day; None: it may be all of it."""
    schedule, duration = budget.get("schedule"), budget.get("duration")
    if not isinstance(schedule, str) or not isinstance(duration, str):
        return None
    fields = schedule.split()
    is_daily = len(fields) == 5 and fields[0].isdecimal() and fields[1].isdecimal()
    return durations.seconds(duration) if is_daily else None
