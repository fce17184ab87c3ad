"""Rules, by family: each is a module with a `RULE`. Modules without one hold what several rules share."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from policykit.linter.registry import Entry
from policykit.linter.rule import AnyRule
from policykit.rules.catalogue import CATALOGUE as CATALOGUE


@cache
def rule(entry: Entry) -> AnyRule:
    """The rule itself, from the file of its name."""
    module = import_module(f"policykit.rules.{entry.folder}.{entry.name.replace('-', '_')}")
    found = module.RULE
    assert isinstance(found, tuple)
    return found  # type: ignore[return-value]


def rules(*, with_policy: bool = True) -> tuple[AnyRule, ...]:
    """All rules that can report in a run with or without a policy, in order; every one is imported."""
    return tuple(rule(entry) for entry in entries(with_policy=with_policy))


def entries(*, with_policy: bool = True) -> tuple[Entry, ...]:
    """The rules that can report in a run with or without a policy, as listed."""
    return tuple(entry for entry in CATALOGUE if with_policy or not entry.needs_policy)
