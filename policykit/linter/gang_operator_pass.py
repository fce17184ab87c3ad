"""Findings about jobs without a gang, where an operator of their scope makes one of every job."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.linter.scope_facts import key_of
from policykit.linter.scope_pass import ScopesByPolicy
from policykit.linter.unit import UnitFinding
from policykit.model.gang_operators import StartedOperator


def gang_made_by_operator(
    scopes: ScopesByPolicy, found: Sequence[UnitFinding], name: str
) -> tuple[UnitFinding, ...]:
    """The findings of files but for those. `name`: of the rule that reports them."""
    made: dict[str, frozenset[str]] = {}
    kept = []
    for one in found:
        file, resource = scopes.known.input_files.get(one.finding.path), one.finding.resource
        if one.finding.name == name and file is not None and resource is not None:
            scope = key_of(file)
            if scope not in made:
                started = scopes.scope(scope).of(StartedOperator) if scope in scopes.known.policies else ()
                made[scope] = frozenset(each.value.api_version for each in started)
            if resource.api_version in made[scope]:
                continue
        kept.append(one)
    return tuple(kept)
