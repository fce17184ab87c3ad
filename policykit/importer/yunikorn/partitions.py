"""A partition: its queues, and what the policy says of YuniKorn alone."""

from __future__ import annotations

from policykit.importer.found import Found
from policykit.importer.yunikorn import options, queues, rules
from policykit.targets.yunikorn.configuration.partition import DEFAULT, Configuration, Partition
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue
from policykit.targets.yunikorn.configuration.resources import CORES
from policykit.targets.yunikorn.derived import standard_rules
from policykit.targets.yunikorn.derived.paths import DEFAULT as FALLBACK

TARGET = "yunikorn"
_WEIGHTS = {CORES: 1.0, "memory": 1.0}
"""What counts where a file states no weights."""


def add(configuration: Configuration, found: Found) -> None:
    """The partition that Kubernetes uses; of others it is said that they are left out."""
    ours = next((p for p in configuration.partitions if p.name.lower() in ("", DEFAULT)), None)
    for partition in configuration.partitions:
        if partition is not ours:
            found.say(f"partition {partition.name} of YuniKorn: Kubernetes uses `default` alone; left out")
    if ours is not None:
        _add(ours, found)


def _add(partition: Partition, found: Found) -> None:
    root = _root(partition)
    names = queues.names(root, found)
    rules.add(partition.rules, names, found)
    keeps_default = not _is_standard(partition)
    queues.add(root, names, found, keeps_default=keeps_default)
    options.add(root, names, found)
    if partition.preemption.enabled is not None and found.preemption.reclaim is None:
        found.preemption = found.preemption._replace(reclaim=partition.preemption.enabled)
    if partition.preemption.quota is not None:
        found.option(TARGET, "quotaPreemption", partition.preemption.quota)
    _node_sort(partition, found)
    if partition.group_resolver:
        found.say(
            f"usergroupresolver {partition.group_resolver} of YuniKorn has no place in a policy; left out"
        )


def _root(partition: Partition) -> Queue:
    """The whole tree, with a root of YuniKorn's own where the file has none."""
    top = partition.queues or ()
    if partition.inserted_root:
        return Queue(ROOT, True, limits=partition.limits, queues=top)
    return top[0]._replace(limits=top[0].limits or partition.limits)


def _is_standard(partition: Partition) -> bool:
    """Whether the queue `default` is there because the rules end in it."""
    known = standard_rules.recognised(partition.rules)
    return known is not None and known[1] == f"{ROOT}.{FALLBACK}"


def _node_sort(partition: Partition, found: Found) -> None:
    sort = partition.node_sort
    if sort.type not in ("", "fair", "binpacking"):
        found.say(f"nodesortpolicy {sort.type} of YuniKorn is neither fair nor binpacking; left out")
    elif sort.type or sort.weights:
        weights = sort.weights or _WEIGHTS
        named = {"cpu" if name == CORES else name: weight for name, weight in weights.items()}
        found.option(TARGET, "nodeSort", {"type": sort.type or "fair", "weights": named})
