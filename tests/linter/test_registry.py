"""Rules by what they look at."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from policykit.errors import UsageError
from policykit.linter import registry
from policykit.linter.finding import Finding
from policykit.linter.registry import Entry, ListedRule, RuleSet, choose, resolve
from policykit.manifests.node import Span
from policykit.model.cluster import LintSettings
from policykit.model.severity import Severity
from policykit.rules import CATALOGUE, entries, rule, rules
from scripts.compile_rules import SUBJECTS


def test_every_rule_is_found_by_its_subject() -> None:
    found = RuleSet(entries(), rule)
    codes = sorted(code for subject in SUBJECTS.values() for code in found.codes(subject))
    assert codes == sorted(found.codes()) == sorted(entry.code for entry in CATALOGUE)


def test_rules_of_a_kind() -> None:
    found = RuleSet(entries(), rule)
    assert "PK206" in {rule.code for rule in found.of(registry.MANIFEST, "ResourceQuota")}
    assert "PK206" not in {rule.code for rule in found.of(registry.MANIFEST, "Pod")}
    everywhere = {rule.code for rule in found.of(registry.MANIFEST, "")}
    assert everywhere <= {rule.code for rule in found.of(registry.MANIFEST, "ResourceQuota")}


def test_rules_about_scopes_by_what_they_report_at() -> None:
    found = RuleSet(entries(), rule)
    assert [each.code for each in found.about(frozenset({"shared_cards.CardName"}))] == ["PK219", "PK517"]
    assert found.about(frozenset()) == ()
    every = frozenset(name for entry in CATALOGUE for name in entry.reports_at)
    assert {each.code for each in found.about(every)} == found.codes(registry.SCOPE)


def test_those_left_out_are_counted() -> None:
    assert RuleSet([], rule, 3).skipped == 3


def test_rules_without_their_words_are_left_out_of_the_first_thousand_sorts_of_files() -> None:
    words = [f"word{number}" for number in range(11)]
    entries = [Entry(f"PK{number}", "any", "any", substrings=(word,)) for number, word in enumerate(words)]
    rules = RuleSet(entries, rule)
    exact = 0
    for sort in range(2 ** len(words)):
        absent = frozenset(word for number, word in enumerate(words) if sort >> number & 1)
        able = {entry.code for entry in entries if entry.substrings[0] not in absent}
        found = rules.without(absent)
        assert found.codes() == able or found is rules
        exact += found.codes() == able
    assert exact == 1_000


RULES = rules()


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (["PK101"], {"PK101"}),
        (["missing-toleration"], {"PK101"}),
        (["pk101"], {"PK101"}),
        (
            ["PK11"],
            {"PK110", "PK111", "PK112", "PK113", "PK114", "PK115", "PK116", "PK117", "PK118", "PK119"},
        ),
        (["PK801", "syntax-error"], {"PK801", "PK001"}),
        (["ALL"], {rule.code for rule in RULES}),
        ([], set()),
    ],
)
def test_resolve(words: list[str], codes: set[str]) -> None:
    assert resolve(RULES, words) == codes


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("missing-tolerations", "did you mean missing-toleration?"),
        ("PK999", "did you mean PK"),
        ("zzz", "`policykit rules` lists them all"),
    ],
)
def test_a_rule_that_does_not_exist(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(RULES, [word])
    assert raised.value.message == f"no rule is called {word!r}"
    assert raised.value.hint.startswith(hint)


def finding(code: str, path: str = "apps/a.yaml") -> Finding:
    return Finding(path, Span(1, 1, 1, 2), code, "name", Severity.ERROR, "message")


def codes(settings: LintSettings, select: list[str], ignore: list[str]) -> set[str]:
    chosen = choose(RULES, settings, select, ignore)
    return {f.code for f in chosen.apply([finding("PK101"), finding("PK103"), finding("PK801")])}


@pytest.mark.parametrize(
    ("settings", "select", "ignore", "speak"),
    [
        (LintSettings(), [], [], {"PK101", "PK103", "PK801"}),
        (LintSettings(), ["PK1"], [], {"PK101", "PK103"}),
        (LintSettings(), ["PK1"], ["PK103"], {"PK101"}),
        (LintSettings(select=("PK8",)), [], [], {"PK801"}),
        (LintSettings(ignore=("PK101",)), [], [], {"PK103", "PK801"}),
        (LintSettings(ignore=("PK101",)), ["PK101"], [], {"PK101"}),
        (LintSettings(per_path=(("apps/*", ("PK101",)),)), [], [], {"PK103", "PK801"}),
        (LintSettings(per_path=(("other/*", ("PK101",)),)), [], [], {"PK101", "PK103", "PK801"}),
    ],
)
def test_choose(settings: LintSettings, select: list[str], ignore: list[str], speak: set[str]) -> None:
    assert codes(settings, select, ignore) == speak


def test_severity_of_the_settings_wins() -> None:
    chosen = choose(RULES, LintSettings(severity={"missing-toleration": "info"}))
    assert [f.severity for f in chosen.apply([finding("PK101"), finding("PK103")])] == [
        Severity.INFO,
        Severity.ERROR,
    ]


class New(NamedTuple):
    """A rule that has not proven itself."""

    code: str = "PK999"
    name: str = "new"
    preview: bool = True
    on_request: bool = False


@pytest.mark.parametrize(
    ("settings", "speak"),
    [
        (LintSettings(preset="minimal"), ["PK101"]),
        (LintSettings(preset="recommended"), ["PK101", "PK103", "PK204"]),
        (LintSettings(preset="strict"), ["PK101", "PK103", "PK204", "PK905", "PK999"]),
        # By the severity that a finding has here.
        (LintSettings(preset="minimal", severity={"PK101": "warning", "PK103": "error"}), ["PK103"]),
        # What is selected speaks in full.
        (LintSettings(preset="minimal", select=("PK1", "PK905")), ["PK101", "PK103", "PK905"]),
        (LintSettings(preset="strict", select=("PK101",)), ["PK101"]),
        (LintSettings(select=("PK101", "new")), ["PK101", "PK999"]),
        # A family does not reach what is new.
        (LintSettings(select=("ALL",)), ["PK101", "PK103", "PK204"]),
        (LintSettings(preset="strict", ignore=("PK9",)), ["PK101", "PK103", "PK204"]),
    ],
)
def test_presets_differ_by_noise(settings: LintSettings, speak: list[str]) -> None:
    listed: tuple[ListedRule, ...] = (*RULES, New("PK204", "fragmenting", False), New())
    found = [
        finding("PK101"),
        finding("PK103")._replace(severity=Severity.WARNING),
        finding("PK204")._replace(severity=Severity.INFO),
        finding("PK905")._replace(severity=Severity.WARNING),
        finding("PK999"),
    ]
    assert [f.code for f in choose(listed, settings).apply(found)] == speak


@pytest.mark.parametrize(
    ("settings", "select", "preset", "speak"),
    [
        (None, [], "minimal", ["PK101"]),
        (None, [], "strict", ["PK101", "PK103", "PK905"]),
        (LintSettings(preset="strict"), [], "minimal", ["PK101"]),
        (LintSettings(preset="minimal"), [], "strict", ["PK101", "PK103", "PK905"]),
        (LintSettings(preset="strict"), [], "recommended", ["PK101", "PK103"]),
        # It wins over a selection of the settings too; what they ignore stays ignored.
        (LintSettings(select=("PK101",)), [], "strict", ["PK101", "PK103", "PK905"]),
        (LintSettings(ignore=("PK101",)), [], "strict", ["PK103", "PK905"]),
        # What the command line selects speaks in full.
        (LintSettings(), ["PK103"], "minimal", ["PK103"]),
        (LintSettings(), ["PK103"], "strict", ["PK103"]),
    ],
)
def test_a_preset_of_the_command_line(
    settings: LintSettings | None, select: list[str], preset: str, speak: list[str]
) -> None:
    warned = [finding(code)._replace(severity=Severity.WARNING) for code in ("PK103", "PK905")]
    chosen = choose(RULES, settings, select, preset=preset)
    assert [f.code for f in chosen.apply([finding("PK101"), *warned])] == speak


@pytest.mark.parametrize(
    ("settings", "select", "speaks"),
    [
        (LintSettings(), [], False),
        (LintSettings(preset="strict"), [], True),
        (LintSettings(preset="strict"), ["ALL"], False),
        (LintSettings(), ["ALL"], False),
        (LintSettings(), ["PK9"], False),
        (LintSettings(), ["PK905"], True),
        (LintSettings(), ["pk905"], True),
        (LintSettings(), ["ALL", "suppression-without-reason"], True),
        (LintSettings(select=("ALL", "PK905")), [], True),
        (LintSettings(select=("ALL", "PK905"), ignore=("PK9",)), [], False),
    ],
)
def test_what_is_off_by_default_must_be_named(
    settings: LintSettings, select: list[str], speaks: bool
) -> None:
    assert ("PK905" in choose(RULES, settings, select).codes) is speaks
    assert choose(RULES, settings, select).codes


@pytest.mark.parametrize(
    ("path", "below", "silent"),
    [
        ("apps/a.yaml", "", True),
        ("prod/apps/a.yaml", "", True),
        ("a.yaml", "", False),
        ("a.yaml", "apps/", True),
        ("deep/a.yaml", "apps/", True),
        ("a.yaml", "other/", False),
    ],
)
def test_globs_start_where_the_settings_stand(path: str, below: str, silent: bool) -> None:
    chosen = choose(RULES, LintSettings(per_path=(("apps/*.yaml", ("PK101",)),)), below=below)
    assert (chosen.apply([finding("PK101", path)]) == []) is silent
