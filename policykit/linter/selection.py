"""Selects rules, their severities and the files they apply to, by code, name or family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from policykit.errors import UsageError
from policykit.linter.finding import Finding
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
        kept = []
        for finding in findings:
            if finding.code not in self.codes or (self.per_path and self._silent(finding)):
                continue
            severity = self.severities.get(finding.code, finding.severity)
            if severity is Severity.ERROR or not self.errors_only:
                kept.append(finding if severity is finding.severity else finding._replace(severity=severity))
        return kept

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
    chosen = resolve(rules, named) - _not_asked_for(rules, named)
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


def _not_asked_for(rules: Sequence[ListedRule], named: Iterable[str]) -> set[str]:
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
