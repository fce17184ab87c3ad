"""Rules by what they look at."""

from __future__ import annotations

from policykit.linter.registry import rule_set
from policykit.linter.rule import AnyRule
from policykit.linter.scope import Scope
from policykit.linter.subjects import Reading, StaleEntry, Structure
from policykit.linter.suppression import Suppressed
from policykit.manifests.document import Manifest
from policykit.placement.review import Review
from policykit.rules import CATALOGUE, rules


def test_every_rule_stands_in_exactly_one_place() -> None:
    found = rule_set(rules())
    by_kind = {rule.code: rule for group in found.manifest.values() for rule in group}
    groups: dict[type, list[AnyRule]] = {
        Reading: [*found.reading],
        Structure: [*found.structure],
        Manifest: [*by_kind.values()],
        Review: [*found.pod_set],
        Scope: [*found.scope],
        Suppressed: [*found.suppression],
        StaleEntry: [*found.baseline],
    }
    for subject, group in groups.items():
        assert all(rule.subject is subject for rule in group)
    codes = sorted(rule.code for group in groups.values() for rule in group)
    assert codes == sorted(entry.code for entry in CATALOGUE)


def test_rules_of_a_kind() -> None:
    found = rule_set(rules())
    assert "PK206" in {rule.code for rule in found.for_kind("ResourceQuota")}
    assert "PK206" not in {rule.code for rule in found.for_kind("Pod")}
    everywhere = {rule.code for rule in found.for_kind("")}
    assert everywhere <= {rule.code for rule in found.for_kind("ResourceQuota")}


def test_those_left_out_are_counted() -> None:
    assert rule_set([], 3).silent == 3
