"""Placement rules: standard ones follow from tenants and two options, others are copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.importer.inventory import Inventory
from policykit.importer.sections import without_empty
from policykit.targets.yunikorn.configuration import placement_rules
from policykit.targets.yunikorn.configuration.placement_rules import KNOWN, Rule
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import FALLBACK

TARGET = "yunikorn"


def add(rules: tuple[Rule, ...], names: Mapping[str, str], inventory: Inventory) -> None:
    """Adds the rules. `names` maps the full path of a queue to its name in the policy."""
    known = placement_rules.parse_standard_rules(rules)
    if known is None:
        inventory.option(
            TARGET, "placementRules", [_rule(rule) for rule in rules if _usable(rule, inventory)]
        )
        return
    below, fallback = known
    if below:
        inventory.option(TARGET, "namespaceQueues", names.get(below, below))
    if names.get(fallback, fallback.removeprefix(f"{ROOT}.")) != FALLBACK:
        inventory.option(TARGET, "fallback", names.get(fallback, fallback))


def _usable(rule: Rule, inventory: Inventory) -> bool:
    unknown = [each.name for each in rule.chain if each.name.lower() not in KNOWN]
    if unknown:
        inventory.say(f"placement rule {unknown[0]!r} does not exist in YuniKorn; left out")
    return not unknown


def _rule(rule: Rule) -> dict[str, Any]:
    chosen = rule.filter
    return without_empty(
        name=rule.name.lower(),
        value=rule.value,
        create=rule.create or None,
        filter=without_empty(
            type="deny" if chosen.type == "deny" else "", users=chosen.users, groups=chosen.groups
        ),
        parent=_rule(rule.parent) if rule.parent else None,
    )
