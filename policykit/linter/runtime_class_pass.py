"""Judges files again whose pods name a RuntimeClass of their scope: it adds to them at admission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policykit.linter.scope import LocatedFact, located, with_runtime_classes
from policykit.linter.scope_facts import key_of, scope_facts
from policykit.linter.scope_pass import ScopesByPolicy
from policykit.linter.unit import UnitResult, linted_again
from policykit.linter.workspace import Run, Setting
from policykit.model.pod_admission import RuntimeClass, RuntimeClassUse
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class ScopedResults(NamedTuple):
    """The judgements of a run, and the scopes of their facts."""

    judged: tuple[UnitResult, ...]
    scopes: ScopesByPolicy


def with_classes(run: Run, judged: tuple[UnitResult, ...]) -> ScopedResults:
    """The judgements, where those of pods that name a RuntimeClass of their scope know what it adds.

    Others are as they were: nothing was known of the class.
    """
    scopes = ScopesByPolicy(run, scope_facts(run, judged))
    policies = {number for number, setting in enumerate(run.workspace.settings) if setting.cluster}
    named = {
        number: names
        for number, each in enumerate(judged if policies else ())
        if not policies.isdisjoint(each.settings) and (names := _names(each))
    }
    if not named:
        return ScopedResults(judged, scopes)
    classes = _Classes(run, scopes)
    again = list(judged)
    for number, names in named.items():
        each = judged[number]
        if settings := classes.settings(key_of(each.input_file), each.settings, names):
            again[number] = linted_again(run, each, settings)
    if all(new is old for new, old in zip(again, judged, strict=True)):
        return ScopedResults(judged, scopes)
    return ScopedResults(tuple(again), ScopesByPolicy(run, scope_facts(run, again)))


def _names(each: UnitResult) -> frozenset[str]:
    """The RuntimeClasses that pods of a file name."""
    return frozenset(fact.value.name for fact in located(RuntimeClassUse, each.result.facts))


class _Classes:
    """The RuntimeClasses that pods of a scope have, by policy; each policy with them is made once."""

    def __init__(self, run: Run, scopes: ScopesByPolicy) -> None:
        self._settings = run.workspace.settings
        self._scopes = scopes
        self._everywhere: dict[int, list[LocatedFact[RuntimeClass]]] = {}
        self._beside: dict[str, tuple[LocatedFact[RuntimeClass], ...]] = {}
        self._able: dict[tuple[str, int], Cluster | None] = {}
        for name, facts in scopes.known.facts.items():
            classes = [fact for some in facts.values() for fact in located(RuntimeClass, some)]
            for number in scopes.known.policies[name] if classes else ():
                self._everywhere.setdefault(number, []).extend(classes)

    def settings(self, scope: str, numbers: Sequence[int], names: frozenset[str]) -> tuple[Setting, ...]:
        """The settings of the run, where those with these numbers know the classes; empty if none of the
        named ones is known."""
        found = list(self._settings)
        for number in numbers:
            able = self._cluster(scope, number)
            if able is not None and not names.isdisjoint(able.runtime_classes):
                found[number] = found[number]._replace(cluster=able)
        changed = any(new is not old for new, old in zip(found, self._settings, strict=True))
        return tuple(found) if changed else ()

    def _cluster(self, scope: str, number: int) -> Cluster | None:
        """A policy with the RuntimeClasses of a scope and of all files that the policy judges."""
        cluster, key = self._settings[number].cluster, (scope, number)
        if cluster is not None and key not in self._able:
            if scope not in self._beside:
                self._beside[scope] = self._scopes.scope(scope).of(RuntimeClass)
            facts = {id(one): one for one in (*self._beside[scope], *self._everywhere.get(number, ()))}
            self._able[key] = with_runtime_classes(cluster, facts.values())
        return self._able.get(key)
