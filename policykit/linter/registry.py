"""The rules of a run, sorted by what they look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from policykit.linter.rule import AnyRule
from policykit.linter.scope import Scope
from policykit.linter.subjects import Reading, StaleEntry, Structure
from policykit.linter.suppression import Suppressed
from policykit.manifests.document import Manifest
from policykit.placement.review import Review


class RuleSet(NamedTuple):
    """Rules by subject; those of manifests by API kind, with "" for every kind."""

    reading: tuple[AnyRule, ...]
    structure: tuple[AnyRule, ...]
    manifest: dict[str, tuple[AnyRule, ...]]
    pod_set: tuple[AnyRule, ...]
    scope: tuple[AnyRule, ...]
    silent: int
    """Rules left out because they need a policy and there is none."""
    suppression: tuple[AnyRule, ...] = ()
    baseline: tuple[AnyRule, ...] = ()
    codes: frozenset[str] = frozenset()
    """Codes of all of them."""

    def for_kind(self, kind: str) -> Sequence[AnyRule]:
        return self.manifest.get(kind, ()) + self.manifest.get("", ())


def rule_set(rules: Iterable[AnyRule], silent: int = 0) -> RuleSet:
    """The rules of a run by what they look at; `silent` counts those left out."""
    able = tuple(rules)
    by_kind: dict[str, tuple[AnyRule, ...]] = {}
    for rule in able:
        if rule.subject is Manifest:
            for kind in sorted(rule.kinds) or [""]:
                by_kind[kind] = (*by_kind.get(kind, ()), rule)
    return RuleSet(
        _of(able, Reading),
        _of(able, Structure),
        by_kind,
        _of(able, Review),
        _of(able, Scope),
        silent,
        _of(able, Suppressed),
        _of(able, StaleEntry),
        frozenset(rule.code for rule in able),
    )


def _of(rules: Iterable[AnyRule], subject: type) -> tuple[AnyRule, ...]:
    return tuple(rule for rule in rules if rule.subject is subject)
