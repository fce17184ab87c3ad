"""Partitions, names of queues, access lists, node sorting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.targets.yunikorn.checks.problem import Located, Problem
from policykit.targets.yunikorn.configuration.partition import DEFAULT, Configuration, Partition

NAME = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}\Z")
"""A queue's own name: no dots, which divide the names of a path."""
SORT_TYPES = ("", "fair", "binpacking")


def partitions(configuration: Configuration) -> Iterator[Problem]:
    """Names are unique whatever their case; no name is the default partition's."""
    seen: set[str] = set()
    for number, partition in enumerate(configuration.partitions):
        name = partition.name.lower() or DEFAULT
        path: Path = ("partitions", number)
        if name in seen:
            yield Problem((*path, "name"), "partition-name", f"partition {name} is given twice")
        seen.add(name)
        if partition.queues is None:
            yield Problem(path, "no-queues", f"partition {name} has no queues: write at least `queues: []`")


def root(partition: Partition, tree: Located) -> Iterator[Problem]:
    """Root has no amounts of its own; limits stand on it or on the partition."""
    resources = tree.queue.resources
    for key, stated in (("guaranteed", resources.guaranteed), ("max", resources.maximum)):
        if stated is not None:
            path = (*tree.path, "resources", key)
            yield Problem(
                path, "root-resources", "root is the whole cluster: it takes no guaranteed and no max"
            )
    both = not partition.inserted_root and partition.limits and (partition.queues or ())[0].limits
    if both and both != partition.limits:
        yield Problem(
            tree.limits_path, "root-limits", "limits of the partition and of root differ: write one of them"
        )


def queues(tree: Located) -> Iterator[Problem]:
    """Access lists and names."""
    for each in tree.walk():
        for key, text in (("adminacl", each.queue.admin), ("submitacl", each.queue.submit)):
            if len(text.split()) > 2:
                message = f"{key} {text!r} has more than two parts: users, one space, groups"
                yield Problem((*each.path, key), "acl", message)
        seen: set[str] = set()
        for child in each.children:
            name = child.queue.name
            if not NAME.match(name):
                yield Problem(
                    (*child.path, "name"),
                    "queue-name",
                    f"queue name {name!r} must be 1 to 64 of letters, digits and _ : # / @ -",
                )
            if name.lower() in seen:
                message = f"queue {name} stands twice below {each.queue.name}"
                yield Problem((*child.path, "name"), "queue-name-twice", message)
            seen.add(name.lower())


def node_sort(partition: Partition, path: Path) -> Iterator[Problem]:
    sort, path = partition.node_sort, (*path, "nodesortpolicy")
    if sort.type not in SORT_TYPES:
        yield Problem((*path, "type"), "node-sort", f"{sort.type!r} is neither fair nor binpacking")
    for name, weight in sort.weights.items():
        if weight < 0:
            where = (*path, "resourceweights", name)
            yield Problem(where, "node-sort", f"weight of {name} is below zero: {weight}")
