"""Rules by what they look at."""

from __future__ import annotations

from policykit.linter import registry
from policykit.linter.registry import Entry, RuleSet
from policykit.rules import CATALOGUE, entries, rule
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
