"""The rules of a run by subject; each is imported when its subject first occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

from policykit.linter.rule import AnyRule, Context
from policykit.namedtuple import NamedTuple

READING = "reading"
"""A parsed document."""
STRUCTURE = "structure"
"""An object and its schema problems."""
MANIFEST = "manifest"
"""An object, or the configuration of a scheduler."""
PODS = "pods"
"""A pod set and the pools it can land in."""
COMPONENT = "component"
"""An object in a kustomization that includes a generated component of its workload kind."""
SCOPE = "scope"
"""All facts of a scope."""
SUPPRESSION = "suppression"
BASELINE = "baseline"
POLICY = "policy"
"""A policy as written."""
FAILED_BUILD = "failed build"
"""A mistake for which a kustomization cannot be built."""
GENERATED_FILE = "generated file"
"""A generated file that differs from what its policy generates."""

_MAX_PARTS = 1_000


class Entry(NamedTuple):
    """What the catalogue says of a `Rule`: enough to select it without importing it."""

    code: str
    folder: str
    """Folder of its module."""
    name: str
    needs_policy: bool = False
    preview: bool = False
    on_request: bool = False
    subject: str = MANIFEST
    """One of the constants above."""
    kinds: tuple[str, ...] = ()
    substrings: tuple[str, ...] = ()


class RuleSet:
    """The rules that may report findings in a run."""

    __slots__ = ("_entries", "_found", "_load", "_parts", "_times", "skipped", "substrings", "timed")

    def __init__(self, entries: Iterable[Entry], load: Callable[[Entry], AnyRule], skipped: int = 0) -> None:
        """`load` imports the rule of an entry; `skipped`: number of rules left out for lack of a policy."""
        self._entries = tuple(entries)
        self._load = load
        self._found: dict[tuple[str, str], tuple[AnyRule, ...]] = {}
        self._times: dict[str, float] = {}
        self._parts: dict[bool | frozenset[str], RuleSet] = {}
        self.skipped = skipped
        self.substrings = frozenset(text for entry in self._entries for text in entry.substrings)
        """Substrings that `without` can take into account."""
        self.timed = False
        """Whether `check` measures the time rules take."""

    def of(self, subject: str, kind: str = "") -> tuple[AnyRule, ...]:
        """The rules for a subject, without those limited to kinds other than `kind`."""
        found = self._found.get((subject, kind))
        if found is None:
            found = self._found[subject, kind] = tuple(
                self._load(entry)
                for entry in self._entries
                if entry.subject == subject and (not entry.kinds or kind in entry.kinds)
            )
        return found

    def part(self, *, reading: bool) -> RuleSet:
        """The rules about how files are written, or else those about built objects. Rules about the structure
        of objects are in both.
        """
        if reading not in self._parts:
            kept = [
                entry
                for entry in self._entries
                if (
                    entry.folder == "reading" or entry.subject == COMPONENT
                    if reading
                    else entry.subject not in (READING, COMPONENT)
                )
            ]
            self._keep(reading, kept)
        return self._parts[reading]

    def without(self, absent: frozenset[str]) -> RuleSet:
        """The rules that may have findings in a text without these substrings."""
        if absent not in self._parts:
            if len(self._parts) >= _MAX_PARTS:
                return self  # too many combinations: using all rules only costs time
            own = absent & self.substrings
            if own not in self._parts:
                some = [
                    each
                    for each in self._entries
                    if not (each.substrings and absent.issuperset(each.substrings))
                ]
                self._keep(own, some)
            self._parts[absent] = self._parts[own]
        return self._parts[absent]

    def _keep(self, name: bool | frozenset[str], entries: Sequence[Entry]) -> None:
        part = self._parts[name] = RuleSet(entries, self._load, self.skipped)
        part.timed = self.timed

    def check(self, rule: AnyRule, subject: object, context: Context) -> Iterable[Any]:
        """The violations of a rule in a subject."""
        if not self.timed:
            return rule.check(subject, context)
        start = perf_counter()
        found = list(rule.check(subject, context))
        self._times[rule.code] = self._times.get(rule.code, 0.0) + perf_counter() - start
        return found

    def times(self) -> tuple[tuple[str, float], ...]:
        """Code of each rule and the seconds it took since the last call."""
        found, self._times = tuple(sorted(self._times.items())), {}
        return found

    def needing_policy(self) -> frozenset[str]:
        """Codes of the rules that need a policy."""
        return frozenset(entry.code for entry in self._entries if entry.needs_policy)

    def schema_rules(self) -> frozenset[str]:
        """Codes of the rules about the structure of objects, which check files and builds."""
        return frozenset(
            entry.code for entry in self._entries if entry.folder == "reading" and entry.subject != READING
        )

    def codes(self, subject: str = "") -> frozenset[str]:
        """Codes of all rules, or of those of one subject."""
        return frozenset(entry.code for entry in self._entries if not subject or entry.subject == subject)


def _no_entry(entry: Entry) -> AnyRule:
    raise LookupError(entry.code)


NO_RULES = RuleSet((), _no_entry)
