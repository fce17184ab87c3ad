"""Placement rules: the usual ones follow from tenants and two options, others are stated as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.found import Found
from policykit.importer.sections import without_empty
from policykit.targets.yunikorn.configuration.placement_rules import KNOWN, Rule
from policykit.targets.yunikorn.configuration.queues import ROOT
from policykit.targets.yunikorn.derived import standard_rules
from policykit.targets.yunikorn.options import FALLBACK

TARGET = "yunikorn"


def add(rules: tuple[Rule, ...], names: Mapping[str, str], found: Found) -> None:
    """`names` gives the policy's name of a queue by its whole path."""
    known = standard_rules.recognised(rules)
    if known is None:
        found.option(TARGET, "placementRules", [_said(rule) for rule in rules if _usable(rule, found)])
        return
    below, fallback = known
    if below:
        found.option(TARGET, "namespaceQueues", names.get(below, below))
    if names.get(fallback, fallback.removeprefix(f"{ROOT}.")) != FALLBACK:
        found.option(TARGET, "fallback", names.get(fallback, fallback))


def _usable(rule: Rule, found: Found) -> bool:
    unknown = [each.name for each in rule.chain if each.name.lower() not in KNOWN]
    if unknown:
        found.say(f"placement rule {unknown[0]!r} of YuniKorn is none that it knows; left out")
    return not unknown


def _said(rule: Rule) -> dict[str, Any]:
    chosen = rule.filter
    return without_empty(
        name=rule.name.lower(),
        value=rule.value,
        create=rule.create or None,
        filter=without_empty(
            type="deny" if chosen.type == "deny" else "", users=chosen.users, groups=chosen.groups
        ),
        parent=_said(rule.parent) if rule.parent else None,
    )
