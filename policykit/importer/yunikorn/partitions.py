"""A partition: its queues and YuniKorn's own options."""

from __future__ import annotations

from policykit.importer.inventory import Inventory
from policykit.importer.yunikorn import options, queues, rules
from policykit.targets.yunikorn.configuration import placement_rules
from policykit.targets.yunikorn.configuration.queues_yaml import DEFAULT, Configuration, Partition, Queue
from policykit.targets.yunikorn.configuration.resources import CORES
from policykit.targets.yunikorn.names import ROOT
from policykit.targets.yunikorn.queue_tree import FALLBACK_NAME as FALLBACK

TARGET = "yunikorn"
_WEIGHTS = {CORES: 1.0, "memory": 1.0}
"""YuniKorn's default weights."""


def add(configuration: Configuration, inventory: Inventory) -> None:
    """Adds the partition that Kubernetes uses, and reports the others."""
    ours = next((p for p in configuration.partitions if p.name.lower() in ("", DEFAULT)), None)
    for partition in configuration.partitions:
        if partition is not ours:
            inventory.say(f"partition {partition.name} of YuniKorn: Kubernetes uses only `default`; left out")
    if ours is not None:
        _add(ours, inventory)


def _add(partition: Partition, inventory: Inventory) -> None:
    root = _root(partition)
    names = queues.names(root, inventory)
    rules.add(partition.rules, names, inventory)
    keeps_default = not _is_standard(partition)
    queues.add(root, names, inventory, keeps_default=keeps_default)
    options.add(root, names, inventory)
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
    return known is not None and known[1] == f"{ROOT}.{FALLBACK}"


def _node_sort(partition: Partition, inventory: Inventory) -> None:
    sort = partition.node_sort
    if sort.type not in ("", "fair", "binpacking"):
        inventory.say(f"nodesortpolicy {sort.type} of YuniKorn is neither fair nor binpacking; left out")
    elif sort.type or sort.weights:
        weights = sort.weights or _WEIGHTS
        named = {"cpu" if name == CORES else name: weight for name, weight in weights.items()}
        inventory.option(TARGET, "nodeSort", {"type": sort.type or "fair", "weights": named})
