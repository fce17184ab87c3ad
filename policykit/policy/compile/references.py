"""Names that must stand for something: usages, cards, pools, queues, priority classes."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft
from policykit.policy.models.workload import Workload
from policykit.policy.suggest import did_you_mean

BUILT_IN_QUEUES = frozenset({"default", "root", "root.default"})
KOORDINATOR_CLASSES = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"})


_SECTIONS = {"card": "cards", "pool": "pools", "queue": "queues", "priority": "priorities"}


def check_references(draft: Draft) -> None:
    """Reports every reference to nothing."""
    for name, pool in draft.policy.pools.items():
        if pool.card:
            _known(draft, ("pools", name, "card"), "card", pool.card)
    for name, workload in draft.policy.workloads.items():
        _check_usages(draft, ("workloads", name), workload)
        _check_others(draft, ("workloads", name), workload)
    for name, queue in draft.policy.queues.items():
        if queue.parent and queue.parent != "root":
            _known(draft, ("queues", name, "parent"), "queue", queue.parent)
    _check_unused(draft)


def _check_usages(draft: Draft, path: Path, workload: Workload) -> None:
    usages = draft.usages()
    for number, usage in enumerate(workload.usages):
        if usage not in usages and draft.usages_known():
            message = f"no pool has usage {usage!r}"
            draft.problems.error((*path, "usages", number), message, did_you_mean(usage, usages))
    _once(draft, (*path, "usages"), workload.usages)
    allowed = workload.usages or usages
    for usage in workload.prefer:
        if usage in allowed or not draft.usages_known():
            continue
        if usage in usages:
            message, hint = (
                f"prefers usage {usage!r}, which it may not use",
                f"add {usage} to usages, or remove it here",
            )
        else:
            message, hint = f"prefers usage {usage!r}, which no pool has", did_you_mean(usage, allowed)
        draft.problems.error((*path, "prefer", usage), f"workload kind {path[1]} {message}", hint, key=True)


def _check_others(draft: Draft, path: Path, workload: Workload) -> None:
    if isinstance(workload.cards, tuple):
        _all_known(draft, (*path, "cards"), "card", workload.cards)
    _all_known(draft, (*path, "helpers"), "pool", workload.helpers or ())
    queues = draft.names("queues")
    if workload.queue and queues and workload.queue not in BUILT_IN_QUEUES:
        _known(draft, (*path, "queue"), "queue", workload.queue)
    classes = draft.names("priorities")
    if workload.priority_class and classes and not _built_in(draft, workload.priority_class):
        _known(draft, (*path, "priorityClass"), "priority", workload.priority_class)


def _built_in(draft: Draft, name: str) -> bool:
    return name.startswith("system-") or (
        "koordinator" in draft.names("targets") and name in KOORDINATOR_CLASSES
    )


def _all_known(draft: Draft, path: Path, what: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        _known(draft, (*path, number), what, name)
    _once(draft, path, names)


def _known(draft: Draft, path: Path, what: str, name: str) -> None:
    """Reports a name that its section lacks, unless the section itself is malformed."""
    section = _SECTIONS[what]
    if name not in draft.names(section) and not draft.problems.broken((section,)):
        draft.problems.error(path, f"there is no {what} {name!r}", did_you_mean(name, draft.names(section)))


def _once(draft: Draft, path: Path, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            draft.problems.notice((*path, number), f"{name!r} stands twice in {path[-1]}")


def _check_unused(draft: Draft) -> None:
    """A usage that no workload kind may use is probably a slip."""
    allowed = {usage for workload in draft.policy.workloads.values() for usage in workload.usages}
    if not draft.policy.workloads or any(not w.usages for w in draft.policy.workloads.values()):
        return
    for name, pool in draft.policy.pools.items():
        if pool.usage and pool.usage not in allowed:
            hint = did_you_mean(pool.usage, allowed)
            draft.problems.notice(
                ("pools", name, "usage"), f"no workload kind uses usage {pool.usage!r}", hint
            )
