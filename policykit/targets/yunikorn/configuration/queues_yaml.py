"""queues.yaml: partitions with their queues and limits, written and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.namedtuple import NamedTuple
from policykit.targets.yunikorn.configuration import placement_rules
from policykit.targets.yunikorn.configuration.placement_rules import Rule
from policykit.targets.yunikorn.configuration.values import (
    CORES,
    Resources,
    flag,
    items,
    names,
    text,
    texts,
    whole,
    without_unset,
)
from policykit.targets.yunikorn.configuration.values import read_amounts as read_amounts
from policykit.targets.yunikorn.configuration.values import write_amounts as write_amounts
from policykit.targets.yunikorn.names import ROOT

DEFAULT = "default"
"""The partition that the Kubernetes shim uses; it ignores all others."""


class Limit(NamedTuple):
    """What users or groups may use in a queue. The order of limits counts."""

    description: str = ""
    users: tuple[str, ...] = ()
    """`*` is everybody who is not named."""
    groups: tuple[str, ...] = ()
    resources: Mapping[str, str] = {}
    applications: int = 0
    """0: unlimited."""


def _write_limit(limit: Limit) -> dict[str, Any]:
    return without_unset(
        {
            "limit": limit.description,
            "users": list(limit.users),
            "groups": list(limit.groups),
            "maxapplications": limit.applications,
            "maxresources": dict(sorted(limit.resources.items())),
        }
    )


def _read_limit(data: Mapping[str, Any]) -> Limit:
    return Limit(
        text(data.get("limit")),
        names(data.get("users")),
        names(data.get("groups")),
        texts(data.get("maxresources")),
        whole(data.get("maxapplications")),
    )


class ChildTemplate(NamedTuple):
    """Settings of the leaf queues that placement rules create below a queue."""

    applications: int = 0
    properties: Mapping[str, str] = {}
    resources: Resources = Resources()


class Queue(NamedTuple):
    """A queue, with YuniKorn's names of resources and properties, and amounts as it writes them."""

    name: str
    parent: bool = False
    """Holds queues, not applications."""
    submit: str = ""
    """submitacl: users and groups, see `access_lists`."""
    admin: str = ""
    resources: Resources = Resources()
    applications: int = 0
    """maxapplications; 0: unlimited."""
    properties: Mapping[str, str] = {}
    template: ChildTemplate = ChildTemplate()
    limits: tuple[Limit, ...] = ()
    queues: tuple[Queue, ...] = ()

    @property
    def leaf(self) -> bool:
        return not self.parent and not self.queues


def walk(queue: Queue, path: str = ROOT) -> Iterator[tuple[str, Queue]]:
    """A queue and all queues below it, each with its full path."""
    yield path, queue
    for child in queue.queues:
        yield from walk(child, f"{path}.{child.name}")


def _write_queue(queue: Queue) -> dict[str, Any]:
    """The queue as plain data, without unset fields."""
    return {
        "name": queue.name,
        **without_unset(
            {
                "parent": queue.parent,
                "submitacl": queue.submit,
                "adminacl": queue.admin,
                "maxapplications": queue.applications,
                "properties": dict(sorted(queue.properties.items())),
                "resources": write_amounts(queue.resources),
                "childtemplate": _write_template(queue.template),
                "limits": [_write_limit(limit) for limit in queue.limits],
                "queues": [_write_queue(child) for child in queue.queues],
            }
        ),
    }


def _write_template(template: ChildTemplate) -> dict[str, Any]:
    return without_unset(
        {
            "maxapplications": template.applications,
            "properties": dict(sorted(template.properties.items())),
            "resources": write_amounts(template.resources),
        }
    )


def _read_queue(data: Mapping[str, Any]) -> Queue:
    """A queue. A field that is missing or has the wrong type gets YuniKorn's default."""
    template = mapping(data.get("childtemplate"))
    return Queue(
        text(data.get("name")),
        flag(data.get("parent")) is True,
        text(data.get("submitacl")),
        text(data.get("adminacl")),
        read_amounts(data.get("resources")),
        whole(data.get("maxapplications")),
        texts(data.get("properties")),
        ChildTemplate(
            whole(template.get("maxapplications")),
            texts(template.get("properties")),
            read_amounts(template.get("resources")),
        ),
        tuple(_read_limit(limit) for limit in items(data.get("limits"))),
        tuple(_read_queue(child) for child in items(data.get("queues"))),
    )


class NodeSort(NamedTuple):
    """How feasible nodes are ordered, for every pod of the partition."""

    type: str = ""
    """binpacking or fair; empty is fair."""
    weights: Mapping[str, float] = {}
    """Resource by YuniKorn's name to weight; empty: vcore and memory count 1, nothing else counts."""


DEFAULT_SORT = NodeSort("fair", {CORES: 1.0, "memory": 1.0})
"""What a partition without nodesortpolicy has."""


class Preemption(NamedTuple):
    """None: YuniKorn's default, which is True for `enabled` and False for `quota`."""

    enabled: bool | None = None
    quota: bool | None = None


class Partition(NamedTuple):
    """A partition."""

    name: str = DEFAULT
    queues: tuple[Queue, ...] | None = ()
    """The top queues, usually only `root`. None: the key is missing."""
    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit, ...] = ()
    preemption: Preemption = Preemption()
    node_sort: NodeSort = NodeSort()
    group_resolver: str = ""

    @property
    def inserted_root(self) -> bool:
        """Whether YuniKorn inserts a root above the queues."""
        top = self.queues or ()
        return len(top) != 1 or top[0].name.lower() != ROOT


class Configuration(NamedTuple):
    """A file."""

    partitions: tuple[Partition, ...] = ()
    checksum: str = ""


def write(configuration: Configuration) -> dict[str, Any]:
    """The file as plain data."""
    checksum = {"checksum": configuration.checksum} if configuration.checksum else {}
    return {"partitions": [_write_partition(each) for each in configuration.partitions], **checksum}


def _write_partition(partition: Partition) -> dict[str, Any]:
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
        "limits": [_write_limit(limit) for limit in partition.limits],
    }
    tree = {} if partition.queues is None else {"queues": [_write_queue(each) for each in partition.queues]}
    return {"name": partition.name, **without_unset(stated), **tree}


def read(data: object) -> Configuration:
    """The content of a file. Parts of the wrong type are ignored."""
    root = mapping(data)
    partitions = tuple(map(_read_partition, items(root.get("partitions"))))
    return Configuration(partitions, text(root.get("checksum")))


def _read_partition(data: Mapping[str, Any]) -> Partition:
    top = data.get("queues")
    preemption, sort = mapping(data.get("preemption")), mapping(data.get("nodesortpolicy"))
    return Partition(
        text(data.get("name")),
        tuple(_read_queue(each) for each in items(top)) if isinstance(top, list) else None,
        tuple(placement_rules.read(rule) for rule in items(data.get("placementrules"))),
        tuple(_read_limit(limit) for limit in items(data.get("limits"))),
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


class QueueNode(NamedTuple):
    """A queue and its path in queues.yaml. A root that YuniKorn inserts has the path of its partition."""

    queue: Queue
    path: Path
    limits_path: Path
    children: tuple[QueueNode, ...] = ()

    def walk(self) -> Iterator[QueueNode]:
        """This queue and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def queue_tree(partition: Partition, path: Path) -> QueueNode:
    """The root: YuniKorn inserts one where there is none, and gives it the limits of the partition."""
    top = (*path, "queues")
    queues = partition.queues or ()
    if partition.inserted_root:
        root = Queue(ROOT, parent=True, limits=partition.limits, queues=queues)
        return QueueNode(root, path, (*path, "limits"), _children(queues, top))
    root = queues[0]._replace(parent=True)
    own = _node(root, (*top, 0))
    if not partition.limits or root.limits:
        return own
    return own._replace(queue=root._replace(limits=partition.limits), limits_path=(*path, "limits"))


def _node(queue: Queue, path: Path) -> QueueNode:
    return QueueNode(queue, path, (*path, "limits"), _children(queue.queues, (*path, "queues")))


def _children(queues: tuple[Queue, ...], path: Path) -> tuple[QueueNode, ...]:
    return tuple(_node(child, (*path, number)) for number, child in enumerate(queues))
