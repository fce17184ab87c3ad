"""What the scheduler refuses of a queue configuration: its own validator, rule by rule.

Source: core configvalidator.go, release 1.9. Older releases know fewer keys, and compare alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.manifests.path import Path
from policykit.targets.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.checks import amounts, decoding, limits, placement, running, structure
from policykit.targets.yunikorn.checks.problem import Problem, located
from policykit.targets.yunikorn.configuration.partition import Configuration, Partition, read

_NEWEST = versions.parse("")


def problems(data: object, version: Version = _NEWEST) -> tuple[Problem, ...]:
    """Everything refused in the data of a queues.yaml, in the order of the checks; none: it is accepted.

    Of a file that does not decode only that is said, as nothing else of it is certain.
    """
    found = tuple(decoding.problems(data, version))
    return found or refused(read(data))


def refused(configuration: Configuration) -> tuple[Problem, ...]:
    """What is refused of a configuration that decodes."""
    found = list(structure.partitions(configuration))
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None:
            found += _partition(partition, ("partitions", number))
    return tuple(found)


def failing(configuration: Configuration) -> tuple[Problem, ...]:
    """What is accepted, and then fails or means something else once the scheduler runs."""
    return tuple(
        problem
        for number, partition in enumerate(configuration.partitions)
        for problem in running.problems(
            partition, located(partition, ("partitions", number)), ("partitions", number)
        )
    )


def _partition(partition: Partition, path: Path) -> Iterator[Problem]:
    tree = located(partition, path)
    yield from structure.root(partition, tree)
    yield from structure.queues(tree)
    yield from limits.own(tree)
    yield from amounts.resources(tree)
    yield from placement.rules(partition.rules, tree, (*path, "placementrules"))
    yield from structure.node_sort(partition, path)
    yield from amounts.applications(tree)
    yield from limits.inherited(tree)
