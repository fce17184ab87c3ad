"""Lowers errors that a change of pods at admission may settle, where something changes pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from policykit.linter.registry import PODS
from policykit.linter.scope import AnyFact, LocatedFact
from policykit.linter.scope_pass import ScopesByPolicy, key_of
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Run
from policykit.model.pod_admission import PodMutation
from policykit.model.severity import Severity


def changed_at_admission(
    run: Run, scopes: ScopesByPolicy, found: Sequence[UnitFinding]
) -> tuple[UnitFinding, ...]:
    """The findings of files, where those that a change of pods at admission may settle are no errors: if the
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
    everywhere: dict[int, dict[str, str]] = {}
    for name, facts in known.facts.items():
        for number in known.policies[name]:
            _add_mutations(everywhere.setdefault(number, {}), chain.from_iterable(facts.values()))
    beside: dict[str, dict[str, str]] = {}
    softened = []
    for one in found:
        input_file = known.input_files.get(one.finding.path)
        if one.finding.code in codes and one.finding.severity is Severity.ERROR and input_file is not None:
            name = key_of(input_file)
            if name not in beside:
                near = scopes.scope(name).of(PodMutation) if name in known.policies else ()
                beside[name] = _add_mutations({}, near)
            resource = one.finding.resource
            namespace = (resource.namespace if resource else "") or input_file.namespace
            by = (beside[name], everywhere.get(one.setting, {}))
            who = next((there[each] for there in by for each in ("", namespace) if each in there), "")
            if who:
                help_ = f"{one.finding.help}\nor leave it to {who}, which may change the pods at admission"
                finding = one.finding._replace(severity=Severity.WARNING, help=help_)
                one = one._replace(finding=finding)
        softened.append(one)
    return tuple(softened)


def _add_mutations(found: dict[str, str], facts: Iterable[AnyFact]) -> dict[str, str]:
    """Namespaces, or empty for any, to the first object that changes pods there."""
    for fact in facts:
        if isinstance(fact, LocatedFact) and isinstance(fact.value, PodMutation):
            found.setdefault(fact.value.namespace, fact.value.name)
    return found
