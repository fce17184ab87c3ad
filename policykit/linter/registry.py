"""The rules of a run, by what they look at; each is imported when something is there to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from policykit.linter.rule import AnyRule, Context

READING = "reading"
"""A document as it was read."""
STRUCTURE = "structure"
"""An object and the faults of its shape."""
MANIFEST = "manifest"
"""An object, or the configuration of a scheduler."""
PODS = "pods"
"""A pod set and where it can land."""
SCOPE = "scope"
"""What the files of a scope say together."""
SUPPRESSION = "suppression"
BASELINE = "baseline"
POLICY = "policy"
"""A policy as it is written."""
GENERATED_FILE = "generated file"
"""A generated file that differs from what its policy generates."""

_MOST_PARTS = 1_000


class Entry(NamedTuple):
    """A rule as listed: enough to choose it, without importing it."""

    code: str
    family: str
    """Folder of its file."""
    name: str
    needs_policy: bool = False
    preview: bool = False
    on_request: bool = False
    """Off but in preset strict: elsewhere it speaks only where its code or name is selected."""
    subject: str = MANIFEST
    """What it looks at."""
    kinds: tuple[str, ...] = ()
    """API kinds or names of configurations it looks at; empty: all."""
    words: tuple[str, ...] = ()
    """It has nothing to say of files whose text holds none of these; empty: it may of any."""


class RuleSet:
    """Rules that can speak in a run."""

    __slots__ = ("_entries", "_found", "_load", "_parts", "_times", "silent", "timed", "words")

    def __init__(self, entries: Iterable[Entry], load: Callable[[Entry], AnyRule], silent: int = 0) -> None:
        """`load` gives the rule of an entry; `silent` counts rules left out for want of a policy."""
        self._entries = tuple(entries)
        self._load = load
        self._found: dict[tuple[str, str], tuple[AnyRule, ...]] = {}
        self._times: dict[str, float] = {}
        self._parts: dict[bool | frozenset[str], RuleSet] = {}
        self.silent = silent
        self.words = frozenset(word for entry in self._entries for word in entry.words)
        """What `without` may be asked for."""
        self.timed = False
        """Whether `check` measures."""

    def of(self, subject: str, kind: str = "") -> tuple[AnyRule, ...]:
        """Rules that look at a subject, those bound to other kinds than `kind` left out."""
        found = self._found.get((subject, kind))
        if found is None:
            found = self._found[subject, kind] = tuple(
                self._load(entry)
                for entry in self._entries
                if entry.subject == subject and (not entry.kinds or kind in entry.kinds)
            )
        return found

    def part(self, *, reading: bool) -> RuleSet:
        """Rules about how files are written, or those about objects as they are built: the shape of an
        object is judged by both.
        """
        if reading not in self._parts:
            kept = [
                entry
                for entry in self._entries
                if (entry.family == "reading" if reading else entry.subject != READING)
            ]
            self._keep(reading, kept)
        return self._parts[reading]

    def without(self, absent: frozenset[str]) -> RuleSet:
        """Rules that may have something to say of a text without these of the words."""
        absent = absent & self.words
        if absent not in self._parts:
            if len(self._parts) >= _MOST_PARTS:
                return self  # files of a thousand sorts: then it costs time only
            some = [each for each in self._entries if not (each.words and absent.issuperset(each.words))]
            self._keep(absent, some)
        return self._parts[absent]

    def _keep(self, name: bool | frozenset[str], entries: Sequence[Entry]) -> None:
        part = self._parts[name] = RuleSet(entries, self._load, self.silent)
        part.timed = self.timed

    def check(self, rule: AnyRule, subject: object, context: Context) -> Iterable[Any]:
        """What a rule says of a subject."""
        if not self.timed:
            return rule.check(subject, context)
        start = perf_counter()
        found = list(rule.check(subject, context))
        self._times[rule.code] = self._times.get(rule.code, 0.0) + perf_counter() - start
        return found

    def times(self) -> tuple[tuple[str, float], ...]:
        """Seconds that each rule took since this was last asked for."""
        found, self._times = tuple(sorted(self._times.items())), {}
        return found

    def needing_policy(self) -> frozenset[str]:
        """Codes of the rules that say nothing without a policy."""
        return frozenset(entry.code for entry in self._entries if entry.needs_policy)

    def about_shape(self) -> frozenset[str]:
        """Codes of the rules about the shape of an object, which files and builds may have."""
        return frozenset(
            entry.code for entry in self._entries if entry.family == "reading" and entry.subject != READING
        )

    def codes(self, subject: str = "") -> frozenset[str]:
        """Codes of all rules, or of those of one subject."""
        return frozenset(entry.code for entry in self._entries if not subject or entry.subject == subject)
