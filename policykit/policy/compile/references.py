"""Checks of names: that they refer to entries of the policy, and are listed once."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.messages import Candidates
from policykit.policy.models.workload import Workload
from policykit.targets import TARGETS

_BUILT_IN_QUEUES = frozenset({"default", "root", "root.default"})
_SECTIONS = {
    "card": "cards",
    "pool": "pools",
    "queue": "queues",
    "priority": "priorities",
    "tenant": "tenants",
    "workload kind": "workloads",
}


def check_references(draft: Draft) -> None:
    """Reports every reference to an undefined name."""
    for name, pool in draft.policy.pools.items():
        if pool.card:
            check_defined(draft, ("pools", name, "card"), "card", pool.card)
    usages = _Usages(draft)
    for name, workload in draft.policy.workloads.items():
        _check_usages(draft, ("workloads", name), workload, usages)
        _check_others(draft, ("workloads", name), workload)
    for name, queue in draft.policy.queues.items():
        if queue.parent and queue.parent != "root":
            check_defined(draft, ("queues", name, "parent"), "queue", queue.parent)
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
    check_unique(draft, (*path, "usages"), workload.usages)
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
        check_all_defined(draft, (*path, "cards"), "card", workload.cards)
    check_all_defined(draft, (*path, "helpers"), "pool", workload.helpers or ())
    check_queue_name(draft, (*path, "queue"), workload.queue)
    check_priority_name(draft, (*path, "priorityClass"), workload.priority_class)


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


def check_defined(draft: Draft, path: Path, what: str, name: str) -> None:
    """Reports a name that its section does not define, unless the section is malformed."""
    section = _SECTIONS[what]
    if not draft.has(section, name) and not draft.problems.broken((section,)):
        draft.problems.error(path, f"unknown {what} {name!r}", draft.did_you_mean(section, name))


def check_all_defined(draft: Draft, path: Path, what: str, names: Sequence[str]) -> None:
    """The same for each name of a list; also notices duplicates."""
    for number, name in enumerate(names):
        check_defined(draft, (*path, number), what, name)
    check_unique(draft, path, names)


def check_queue_name(draft: Draft, path: Path, name: str) -> None:
    """Checks a queue name, if the policy defines queues; built-in queues of a system count too."""
    if name and name not in _BUILT_IN_QUEUES and not draft.has("queues", name) and draft.names("queues"):
        check_defined(draft, path, "queue", name)


def check_priority_name(draft: Draft, path: Path, name: str) -> None:
    """Checks a PriorityClass name, if the policy defines any. Built-in classes and those of charts count."""
    if name and draft.names("priorities") and not _is_built_in(draft, name):
        check_defined(draft, path, "priority", name)


def check_unique(draft: Draft, path: Path, names: Sequence[str]) -> None:
    """Notices duplicate names in a list."""
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            draft.problems.notice((*path, number), f"{name!r} is listed twice in {path[-1]}")
        seen.add(name)


def _is_built_in(draft: Draft, name: str) -> bool:
    there = draft.names("targets")
    installed = any(name in target.priority_classes for target in TARGETS if target.name in there)
    return installed or name.startswith("system-")
