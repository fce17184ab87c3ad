"""The whole of queues.yaml: partitions, of which the Kubernetes shim uses `default` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.manifests.shape import mapping
from policykit.targets.yunikorn.configuration import limits, placement_rules, queues
from policykit.targets.yunikorn.configuration.limits import Limit
from policykit.targets.yunikorn.configuration.placement_rules import Rule
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue
from policykit.targets.yunikorn.configuration.shape import flag, items, text, without_unset

DEFAULT = "default"


class NodeSort(NamedTuple):
    """How nodes that fit are ordered, for every pod of the partition."""

    type: str = ""
    """binpacking or fair; empty is fair."""
    weights: Mapping[str, float] = {}
    """Resource by YuniKorn's name to weight; empty: vcore and memory count 1, nothing else counts."""


class Preemption(NamedTuple):
    """None: as YuniKorn does by itself, which is True for `enabled`, False for `quota`."""

    enabled: bool | None = None
    quota: bool | None = None


class Partition(NamedTuple):
    """A partition."""

    name: str = DEFAULT
    queues: tuple[Queue, ...] | None = ()
    """The queues at the top, `root` alone as a rule. None: the key is not there."""
    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit, ...] = ()
    preemption: Preemption = Preemption()
    node_sort: NodeSort = NodeSort()
    group_resolver: str = ""

    @property
    def inserted_root(self) -> bool:
        """Whether YuniKorn puts a root of its own above the queues."""
        top = self.queues or ()
        return len(top) != 1 or top[0].name.lower() != ROOT


class Configuration(NamedTuple):
    """A file."""

    partitions: tuple[Partition, ...] = ()
    checksum: str = ""


def write(configuration: Configuration) -> dict[str, Any]:
    """The file as plain data."""
    checksum = {"checksum": configuration.checksum} if configuration.checksum else {}
    return {"partitions": [_write(each) for each in configuration.partitions], **checksum}


def _write(partition: Partition) -> dict[str, Any]:
    flags = {
        "enabled": partition.preemption.enabled,
        "quotapreemptionenabled": partition.preemption.quota,
    }
    sort = {
        "type": partition.node_sort.type,
        "resourceweights": {
            name: int(weight) if weight % 1 == 0 else weight
            for name, weight in sorted(partition.node_sort.weights.items())
        },
    }
    resolver = {"type": partition.group_resolver} if partition.group_resolver else {}
    stated = {
        "nodesortpolicy": without_unset(sort),
        "preemption": {key: value for key, value in flags.items() if value is not None},
        "usergroupresolver": resolver,
        "placementrules": [placement_rules.write(rule) for rule in partition.rules],
        "limits": [limits.write(limit) for limit in partition.limits],
    }
    tree = {} if partition.queues is None else {"queues": [queues.write(each) for each in partition.queues]}
    return {"name": partition.name, **without_unset(stated), **tree}


def read(data: object) -> Configuration:
    """The content of a file; parts of another shape are ignored."""
    root = mapping(data)
    return Configuration(tuple(map(_read, items(root.get("partitions")))), text(root.get("checksum")))


def _read(data: Mapping[str, Any]) -> Partition:
    top = data.get("queues")
    preemption, sort = mapping(data.get("preemption")), mapping(data.get("nodesortpolicy"))
    return Partition(
        text(data.get("name")),
        tuple(queues.read(each) for each in items(top)) if isinstance(top, list) else None,
        tuple(placement_rules.read(rule) for rule in items(data.get("placementrules"))),
        tuple(limits.read(limit) for limit in items(data.get("limits"))),
        Preemption(flag(preemption.get("enabled")), flag(preemption.get("quotapreemptionenabled"))),
        NodeSort(text(sort.get("type")), _weights(sort.get("resourceweights"))),
        text(mapping(data.get("usergroupresolver")).get("type")),
    )


def _weights(data: object) -> dict[str, float]:
    return {
        text(name): weight
        for name, weight in mapping(data).items()
        if isinstance(weight, (int, float)) and not isinstance(weight, bool)
    }
