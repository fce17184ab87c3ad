"""Checks references: usages, cards, pools, queues, PriorityClasses."""

from __future__ import annotations

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known import all_known, known, known_priority, known_queue, once
from policykit.policy.models.workload import Workload
from policykit.policy.suggest import Candidates


def check_references(draft: Draft) -> None:
    """Reports every reference to an undefined name."""
    for name, pool in draft.policy.pools.items():
        if pool.card:
            known(draft, ("pools", name, "card"), "card", pool.card)
    usages = _Usages(draft)
    for name, workload in draft.policy.workloads.items():
        _check_usages(draft, ("workloads", name), workload, usages)
        _check_others(draft, ("workloads", name), workload)
    for name, queue in draft.policy.queues.items():
        if queue.parent and queue.parent != "root":
            known(draft, ("queues", name, "parent"), "queue", queue.parent)
    _check_unused(draft)


class _Usages:
    """The usages of the pools."""

    def __init__(self, draft: Draft) -> None:
        self.names = frozenset(draft.usages())
        self.known = draft.usages_known()
        self.candidates = Candidates(self.names)


def _check_usages(draft: Draft, path: Path, workload: Workload, usages: _Usages) -> None:
    for number, usage in enumerate(workload.usages):
        if usage not in usages.names and usages.known:
            message = f"no pool has usage {usage!r}"
            draft.problems.error((*path, "usages", number), message, usages.candidates.hint(usage))
    once(draft, (*path, "usages"), workload.usages)
    allowed = frozenset(workload.usages) or usages.names
    candidates = Candidates(allowed) if workload.usages else usages.candidates
    for usage in workload.prefer:
        if usage in allowed or not usages.known:
            continue
        if usage in usages.names:
            message, hint = (
                f"prefers usage {usage!r}, which is not in its usages",
                f"add {usage} to usages, or remove it here",
            )
        else:
            message, hint = f"prefers usage {usage!r}, which no pool has", candidates.hint(usage)
        draft.problems.error((*path, "prefer", usage), f"workload kind {path[1]} {message}", hint, key=True)


def _check_others(draft: Draft, path: Path, workload: Workload) -> None:
    if isinstance(workload.cards, tuple):
        all_known(draft, (*path, "cards"), "card", workload.cards)
    all_known(draft, (*path, "helpers"), "pool", workload.helpers or ())
    known_queue(draft, (*path, "queue"), workload.queue)
    known_priority(draft, (*path, "priorityClass"), workload.priority_class)


def _check_unused(draft: Draft) -> None:
    """Notices a usage that no workload kind may use: probably a mistake."""
    allowed = {usage for workload in draft.policy.workloads.values() for usage in workload.usages}
    if not draft.policy.workloads or any(not w.usages for w in draft.policy.workloads.values()):
        return
    candidates = Candidates(allowed)
    for name, pool in draft.policy.pools.items():
        if pool.usage and pool.usage not in allowed:
            hint = candidates.hint(pool.usage)
            draft.problems.notice(
                ("pools", name, "usage"), f"no workload kind uses usage {pool.usage!r}", hint
            )
