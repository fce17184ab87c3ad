"""Reads a partition back: its queues, placement rules and other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.inventory import Inventory
from policykit.model.policy_values import without_empty
from policykit.targets.yunikorn.configuration import placement_rules
from policykit.targets.yunikorn.configuration.placement_rules import KNOWN, Rule
from policykit.targets.yunikorn.configuration.queues_yaml import DEFAULT, Configuration, Partition, Queue
from policykit.targets.yunikorn.configuration.resources import CORES
from policykit.targets.yunikorn.importing.queue_options import add_queue_options
from policykit.targets.yunikorn.importing.queues import add_queues, queue_names
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.options import FALLBACK
from policykit.targets.yunikorn.queue_tree import FALLBACK_NAME as DEFAULT_QUEUE

TARGET = "yunikorn"
_WEIGHTS = {CORES: 1.0, "memory": 1.0}
"""YuniKorn's default weights."""


def add_partition(configuration: Configuration, inventory: Inventory) -> None:
    """Adds the partition that Kubernetes uses, and reports the others."""
    ours = next((p for p in configuration.partitions if p.name.lower() in ("", DEFAULT)), None)
    for partition in configuration.partitions:
        if partition is not ours:
            inventory.say(f"partition {partition.name} of YuniKorn: Kubernetes uses only `default`; left out")
    if ours is not None:
        _add(ours, inventory)


def _add(partition: Partition, inventory: Inventory) -> None:
    root = _root(partition)
    names = queue_names(root, inventory)
    _add_rules(partition.rules, names, inventory)
    keeps_default = not _is_standard(partition)
    add_queues(root, names, inventory, keeps_default=keeps_default)
    add_queue_options(root, names, inventory)
    if partition.preemption.enabled is not None and inventory.preemption.reclaim is None:
        inventory.preemption = inventory.preemption._replace(reclaim=partition.preemption.enabled)
    if partition.preemption.quota is not None:
        inventory.option(TARGET, "quotaPreemption", partition.preemption.quota)
    _node_sort(partition, inventory)
    if partition.group_resolver:
        inventory.say(
            f"usergroupresolver {partition.group_resolver} of YuniKorn: "
            "a policy has no field for it; left out"
        )


def _root(partition: Partition) -> Queue:
    """The whole tree, with the root that YuniKorn adds if the file has none."""
    top = partition.queues or ()
    if partition.inserted_root:
        return Queue(ROOT, True, limits=partition.limits, queues=top)
    return top[0]._replace(limits=top[0].limits or partition.limits)


def _is_standard(partition: Partition) -> bool:
    """Whether the queue `default` exists only because the rules end in it."""
    known = placement_rules.parse_standard_rules(partition.rules)
    return known is not None and known[1] == f"{ROOT}.{DEFAULT_QUEUE}"


def _node_sort(partition: Partition, inventory: Inventory) -> None:
    sort = partition.node_sort
    if sort.type not in ("", "fair", "binpacking"):
        inventory.say(f"nodesortpolicy {sort.type} of YuniKorn is neither fair nor binpacking; left out")
    elif sort.type or sort.weights:
        weights = sort.weights or _WEIGHTS
        named = {"cpu" if name == CORES else name: weight for name, weight in weights.items()}
        inventory.option(TARGET, "nodeSort", {"type": sort.type or "fair", "weights": named})


def _add_rules(rules: tuple[Rule, ...], names: Mapping[str, str], inventory: Inventory) -> None:
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
