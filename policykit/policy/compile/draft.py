"""The state that every compile step uses, and the checks that names refer to entries of the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic.alias_generators import to_camel

from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.scheme import CardData
from policykit.policy.models import pool as written
from policykit.policy.models.policy import Policy
from policykit.policy.models.workload import Workload
from policykit.policy.problems import Candidates, Problems
from policykit.policy.tree import SourcedValue, find
from policykit.targets import TARGETS


class DefinedNames:
    """The names that a policy defines, collected once per section."""

    def __init__(self, tree: SourcedValue) -> None:
        self._tree = tree
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._candidates: dict[str, Candidates] = {}

    def names(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Keys at a path, including those with invalid values."""
        known = self._names.get(path)
        if known is None:
            found = find(self._tree, path)
            entries = found.value.items() if found is not None and isinstance(found.value, dict) else ()
            known = tuple(name for name, entry in entries if entry.value is not None)
            self._names[path] = known
        return known

    def candidates(self, section: str) -> Candidates:
        if section not in self._candidates:
            self._candidates[section] = Candidates(self.names((section,)))
        return self._candidates[section]


class Draft(NamedTuple):
    """A policy while it is compiled."""

    policy: Policy
    problems: Problems
    tree: SourcedValue
    written: DefinedNames
    cards: Mapping[str, CardData] = {}
    texts: Mapping[str, str] = {}
    """Files that configurations of systems are merged into, by the names the policy gives them."""

    def names(self, *path: str) -> tuple[str, ...]:
        """Keys at a path, including those with invalid values."""
        return self.written.names(path)

    def did_you_mean(self, section: str, name: str) -> str:
        """A hint for a name that is missing from a section."""
        return self.written.candidates(section).hint(name)

    def has(self, section: str, name: str) -> bool:
        """Whether a section has an entry of that name, valid or not."""
        found = find(self.tree, (section, name))
        return found is not None and found.value is not None

    def usages(self) -> tuple[str, ...]:
        """Usages of the pools, in the policy's order."""
        found: dict[str, None] = {}
        for name in self.names("pools"):
            usage = find(self.tree, ("pools", name, "usage"))
            if usage is not None and isinstance(usage.value, str) and usage.value:
                found[usage.value] = None
        return tuple(found)

    def usages_known(self) -> bool:
        """False if a pool is so malformed that the usages cannot be determined."""
        fields = {to_camel(name) for name in written.Pool.model_fields} - {"usage"}
        if self.problems.broken(("pools",)):
            return False
        parts = [("pools", name, key) for name in self.names("pools") for key in self.names("pools", name)]
        return not any(self.problems.broken(part) for part in parts if part[2] not in fields)

    def check(self, path: Path, subject: str, problem: str, *, key: bool = False) -> None:
        """Reports what a predicate such as `label_value_problem` returned, unless it is empty."""
        if problem:
            self.problems.error(path, f"{subject} {problem}", key=key)


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names without duplicates, in order."""
    return tuple(dict.fromkeys(names))


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
        define = f"define it under {section}, or write a name that is there"
        hint = draft.did_you_mean(section, name) or define
        draft.problems.error(path, f"unknown {what} {name!r}", hint)


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
