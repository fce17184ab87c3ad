"""The rules of a run: selected by code, name or family, and listed by the subject that they check."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from policykit.errors import UsageError
from policykit.linter.finding import Finding
from policykit.linter.rule import AnyRule, Context, Violation
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest

if TYPE_CHECKING:
    from policykit.model.cluster import LintSettings

PRESETS = ("minimal", "recommended", "strict")


class ListedRule(Protocol):
    """The fields of a rule by which it is selected."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def preview(self) -> bool: ...
    @property
    def on_request(self) -> bool: ...


class Selection(NamedTuple):
    """The rules of a run. `codes`: those that report findings."""

    codes: frozenset[str]
    severities: Mapping[str, Severity] = {}
    """Code to the severity in the settings."""
    per_path: tuple[tuple[str, frozenset[str]], ...] = ()
    """(glob, codes ignored in these files)."""
    errors_only: bool = False
    """Preset minimal: only errors are reported."""
    below: str = ""
    """The current folder relative to that of the settings, to which globs are relative: `apps/`."""
    accepted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(reason, globs of paths that need not be judged for that reason)."""

    def apply(self, findings: Iterable[Finding]) -> list[Finding]:
        """The remaining findings, with the severities in the settings."""
        return [kept for kept in map(self.selected, findings) if kept is not None]

    def selected(self, finding: Finding) -> Finding | None:
        """A finding with its severity in the settings; None: they leave it out."""
        if finding.code not in self.codes or (self.per_path and self._silent(finding)):
            return None
        severity = self.severities.get(finding.code, finding.severity)
        if self.errors_only and severity is not Severity.ERROR:
            return None
        return finding if severity is finding.severity else finding._replace(severity=severity)

    def accepts(self, reason: str, path: str) -> bool:
        """Whether the settings accept that a path is not judged, for a reason."""
        globs = (glob for name, some in self.accepted if name == reason for glob in some)
        return any(_matches(path, glob, self.below) for glob in globs)

    def _silent(self, finding: Finding) -> bool:
        return any(
            finding.code in codes
            and (
                _matches(finding.path, glob, self.below)
                or (finding.source and _matches(finding.source, glob, ""))
            )
            for glob, codes in self.per_path
        )


def choose(
    rules: Sequence[ListedRule],
    settings: LintSettings | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    below: str = "",
    preset: str = "",
) -> Selection:
    """Combines the policy's `lint:` section with the command line, which takes precedence: `preset` over the
    preset and selection in the section, `select` over everything it selects.

    A preset applies if nothing is selected. minimal: only errors; recommended: all rules except those on
    request and in preview; strict: all rules. Rules that are selected report all severities, whatever the
    preset.
    Raises UsageError for a rule that does not exist.
    """
    named = select or (settings.select if settings and not preset else ())
    chosen = resolve(rules, named) - _unnamed(rules, named)
    preset = preset or (settings.preset if settings else "recommended")
    usual = {rule.code for rule in rules if preset == "strict" or not (rule.on_request or rule.preview)}
    codes = chosen if named else usual
    severities: dict[str, Severity] = {}
    per_path: tuple[tuple[str, frozenset[str]], ...] = ()
    if settings:
        if not select:
            codes = codes - resolve(rules, settings.ignore)
        for word, severity in settings.severity.items():
            severities |= dict.fromkeys(resolve(rules, [word]), Severity(severity))
        per_path = tuple((glob, frozenset(resolve(rules, words))) for glob, words in settings.per_path)
    codes = codes - resolve(rules, ignore)
    accepted = tuple(settings.accept_not_judged.items()) if settings else ()
    only_errors = preset == "minimal" and not named
    return Selection(frozenset(codes), severities, per_path, only_errors, below, accepted)


def resolve(rules: Sequence[ListedRule], named: Iterable[str]) -> set[str]:
    """The codes for codes (`PK101`), names (`missing-toleration`) or families (`PK1`)."""
    found: set[str] = set()
    for word in named:
        upper = word.upper()
        codes = {
            r.code for r in rules if r.name == word or (upper.startswith("PK") and r.code.startswith(upper))
        }
        if word != "ALL" and not codes:
            raise UsageError(f"no rule is called {word!r}", _closest(rules, word))
        found |= codes or {r.code for r in rules}
    return found


def _unnamed(rules: Sequence[ListedRule], named: Iterable[str]) -> set[str]:
    """Codes of rules that a family does not include: their own code or name must be given."""
    words = {word.upper() for word in named}
    return {r.code for r in rules if (r.on_request or r.preview) and not words & {r.code, r.name.upper()}}


def _closest(rules: Sequence[ListedRule], word: str) -> str:
    near = nearest(word, (*(r.name for r in rules), *(r.code for r in rules)))
    return f"did you mean {near}?" if near else "`policykit rules` lists them all"


def _matches(path: str, glob: str, below: str) -> bool:
    """Whether a reported path matches a glob of the settings, or is below a match.

    The match may start anywhere in the path, since the settings may be in a subfolder; `below`: as in
    Selection.
    """
    from fnmatch import fnmatchcase

    return any(
        fnmatchcase(each, glob)
        or fnmatchcase(each, f"{glob.rstrip('/')}/*")
        or fnmatchcase(each, f"*/{glob}")
        for each in ((path, below + path) if below else (path,))
    )


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
    reports_at: tuple[str, ...] = ()
    """Names of types of facts, as `fact_name` gives them."""


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
        """Whether the time is measured that each rule takes."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._entries)

    def of(self, subject: str, kind: str = "") -> tuple[AnyRule, ...]:
        """The rules for a subject, without those limited to kinds other than `kind`."""
        found = self._found.get((subject, kind))
        if found is None:
            found = self._found[subject, kind] = tuple(
                self._loaded(entry)
                for entry in self._entries
                if entry.subject == subject and (not entry.kinds or kind in entry.kinds)
            )
        return found

    def about(self, facts: frozenset[str], without: Container[str] = ()) -> tuple[AnyRule, ...]:
        """The rules about scopes that report at facts of types with these names; `without`: codes of those
        that are left out."""
        return tuple(
            self._loaded(entry)
            for entry in self._entries
            if entry.subject == SCOPE and not facts.isdisjoint(entry.reports_at) and entry.code not in without
        )

    def _loaded(self, entry: Entry) -> AnyRule:
        """The rule of an entry; if rules are timed, its `check` measures how long it takes."""
        rule = self._load(entry)
        if not self.timed:
            return rule
        check = rule.check

        def timed(subject: Any, context: Context) -> list[Violation]:
            start = perf_counter()
            found = list(check(subject, context))
            self._times[rule.code] = self._times.get(rule.code, 0.0) + perf_counter() - start
            return found

        return rule._replace(check=timed)

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
