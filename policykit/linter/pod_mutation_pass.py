"""Lowers errors that a change of pods at admission may settle, where something changes pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from policykit.kube.selectors import may_meet
from policykit.linter.finding import Finding
from policykit.linter.registry import PODS
from policykit.linter.scope import AnyFact, StoredFacts, located
from policykit.linter.scope_facts import key_of
from policykit.linter.scope_pass import ScopesByPolicy
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Run
from policykit.model.pod_admission import PodMutation
from policykit.model.queue import Demand
from policykit.model.severity import Severity


def changed_at_admission(
    run: Run, scopes: ScopesByPolicy, found: Sequence[UnitFinding]
) -> tuple[UnitFinding, ...]:
    """The findings of files, where those that a change of pods at admission may settle are not errors: if the
    scope of the pods, or another file that their policy applies to, has something that changes them."""
    errors = {one.finding.code for one in found if one.finding.severity is Severity.ERROR}
    codes = {
        rule.code
        for setting in run.workspace.settings
        for rule in (setting.rules.of(PODS) if errors and setting.cluster is not None else ())
        if rule.changed_at_admission and rule.code in errors
    }
    if not codes:
        return tuple(found)
    known = scopes.known
    everywhere: dict[int, list[PodMutation]] = {}
    for name, facts in known.facts.items():
        for number in known.policies[name]:
            everywhere.setdefault(number, []).extend(_mutations(chain.from_iterable(facts.values())))
    beside: dict[str, list[PodMutation]] = {}
    softened = []
    for one in found:
        input_file = known.input_files.get(one.finding.path)
        if one.finding.code in codes and one.finding.severity is Severity.ERROR and input_file is not None:
            name = key_of(input_file)
            if name not in beside:
                beside[name] = (
                    _mutations(scopes.scope(name).of(PodMutation)) if name in known.policies else []
                )
            by = (*beside[name], *everywhere.get(one.setting, ()))
            facts_here = known.facts.get(name, {}).get(one.finding.path, ()) if by else ()
            who = _changes(one.finding, input_file.namespace, by, facts_here)
            if who:
                help_ = f"{one.finding.help}\nor leave it to {who}, which may change the pods at admission"
                finding = one.finding._replace(severity=Severity.WARNING, help=help_)
                one = one._replace(finding=finding)
        softened.append(one)
    return tuple(softened)


def _mutations(facts: Iterable[AnyFact | StoredFacts]) -> list[PodMutation]:
    return list(dict.fromkeys(fact.value for fact in located(PodMutation, facts)))


def _changes(
    finding: Finding, namespace: str, by: Sequence[PodMutation], facts: Iterable[AnyFact | StoredFacts]
) -> str:
    """The first object that may change the pods of a finding; empty: none."""
    resource = finding.resource
    place = (resource.namespace if resource else "") or namespace
    mine = sorted(
        (each for each in by if each.namespace in ("", place)), key=lambda each: bool(each.namespace)
    )
    if not mine or not mine[0].selects:
        return mine[0].name if mine else ""
    labels = [fact.value.labels for fact in located(Demand, facts) if fact.resource == resource]
    # Of pods whose labels are not known any may be selected.
    return next(
        (each.name for each in mine if not labels or any(may_meet(each.selects, own) for own in labels)), ""
    )
