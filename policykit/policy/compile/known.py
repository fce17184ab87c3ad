"""Checks that names refer to entries of the policy."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests.path import Path
from policykit.policy.compile.draft import Draft

_BUILT_IN_QUEUES = frozenset({"default", "root", "root.default"})
_KOORDINATOR_CLASSES = frozenset({"koord-prod", "koord-mid", "koord-batch", "koord-free"})

_SECTIONS = {
    "card": "cards",
    "pool": "pools",
    "queue": "queues",
    "priority": "priorities",
    "tenant": "tenants",
    "workload kind": "workloads",
}


def known(draft: Draft, path: Path, what: str, name: str) -> None:
    """Reports a name that its section does not define, unless the section is malformed."""
    section = _SECTIONS[what]
    if not draft.has(section, name) and not draft.problems.broken((section,)):
        draft.problems.error(path, f"unknown {what} {name!r}", draft.did_you_mean(section, name))


def all_known(draft: Draft, path: Path, what: str, names: Sequence[str]) -> None:
    """The same for each name of a list; also notices duplicates."""
    for number, name in enumerate(names):
        known(draft, (*path, number), what, name)
    once(draft, path, names)


def known_queue(draft: Draft, path: Path, name: str) -> None:
    """Checks a queue name, if the policy defines queues; built-in queues of a system count too."""
    if name and name not in _BUILT_IN_QUEUES and not draft.has("queues", name) and draft.names("queues"):
        known(draft, path, "queue", name)


def known_priority(draft: Draft, path: Path, name: str) -> None:
    """Checks a PriorityClass name, if the policy defines any; built-in classes count too."""
    if name and draft.names("priorities") and not _built_in(draft, name):
        known(draft, path, "priority", name)


def once(draft: Draft, path: Path, names: Sequence[str]) -> None:
    """Notices duplicate names in a list."""
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            draft.problems.notice((*path, number), f"{name!r} is listed twice in {path[-1]}")
        seen.add(name)


def _built_in(draft: Draft, name: str) -> bool:
    return name.startswith("system-") or (
        "koordinator" in draft.names("targets") and name in _KOORDINATOR_CLASSES
    )
