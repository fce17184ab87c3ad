"""Partitions and roots that lead somewhere else than it looks."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.yunikorn.checks.problem import Located, Problem, located
from policykit.targets.yunikorn.configuration.partition import DEFAULT, Configuration, Partition
from policykit.targets.yunikorn.configuration.queues import ROOT


def problems(configuration: Configuration) -> Iterator[Problem]:
    """Partitions nobody uses, a root beside others, amounts of a queue named root."""
    for number, partition in enumerate(configuration.partitions):
        path: Path = ("partitions", number)
        if partition.name.lower() not in ("", DEFAULT):
            message = f"partition {partition.name} is never used: Kubernetes has the partition default alone"
            where, advice = (*path, "name"), "move its queues below root of partition default"
            yield Problem(where, "partition-unused", message, advice, Severity.WARNING)
            continue
        yield from _roots(partition, path)


def _roots(partition: Partition, path: Path) -> Iterator[Problem]:
    top = partition.queues or ()
    for number, queue in enumerate(top if len(top) > 1 else ()):
        if queue.name.lower() == ROOT:
            others = ", ".join(other.name for other in top if other is not queue)
            yield Problem(
                (*path, "queues", number, "name"),
                "root-beside",
                f"root stands beside {others}, so YuniKorn puts a root of its own above: this is root.root",
                "put the others below it: what is set here for root does not reach them",
                Severity.WARNING,
            )
    tree = located(partition, path)
    for each in tree.walk():
        for child in each.children:
            yield from _nested(child, each.queue.name)


def _nested(queue: Located, above: str) -> Iterator[Problem]:
    resources = queue.queue.resources
    stated = [
        key
        for key, value in (("guaranteed", resources.guaranteed), ("max", resources.maximum))
        if value is not None
    ]
    if queue.queue.name.lower() == ROOT and stated:
        message = f"queue root below {above} has amounts, which are never applied to a queue of this name"
        advice = "rename the queue"
        where = (*queue.path, "resources")
        yield Problem(where, "root-nested", message, advice, Severity.WARNING)
