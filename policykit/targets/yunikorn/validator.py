"""What the scheduler refuses of a queue configuration: its own validator, rule by rule.

Source: core configvalidator.go, release 1.9. Older releases know fewer keys, and compare alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.targets.release import Version
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.checks import (
    access,
    amiss,
    amounts,
    casing,
    dead_rules,
    decoding,
    limits,
    placement,
    structure,
    templates,
)
from policykit.targets.yunikorn.checks.advice import ADVICE
from policykit.targets.yunikorn.checks.independence import certain
from policykit.targets.yunikorn.checks.problem import Problem, located
from policykit.targets.yunikorn.configuration.partition import Configuration, Partition, read

_NEWEST = versions.parse("")


def problems(data: object, version: Version = _NEWEST) -> tuple[Problem, ...]:
    """Everything refused in the data of a queues.yaml, in the order of the checks; none: it is accepted.

    The scheduler stops at the first part that it does not decode. Here all of them are said, and of
    the rest what none of them can undo.
    """
    undecoded = tuple(_advised(problem) for problem in decoding.problems(data, version))
    rest = refused(read(data)) if isinstance(data, Mapping) else ()
    return (*undecoded, *certain(rest, undecoded, data))


def refused(configuration: Configuration) -> tuple[Problem, ...]:
    """What is refused of a configuration that decodes."""
    found = list(structure.partitions(configuration))
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None:
            found += _partition(partition, ("partitions", number))
    return tuple(map(_advised, found))


def _advised(problem: Problem) -> Problem:
    return problem._replace(help=ADVICE[problem.rule])


def failing(configuration: Configuration) -> tuple[Problem, ...]:
    """What is accepted, and then fails or means something else once the scheduler runs."""
    found: list[Problem] = []
    for number, partition in enumerate(configuration.partitions):
        path: Path = ("partitions", number)
        tree = located(partition, path)
        dead = dead_rules.problems(partition.rules, tree.queue, (*path, "placementrules"))
        # A queue that pods may yet make by naming it may be missing.
        found += [each for each in dead if each.rule != "rule-parent" or each.severity is None]
        found += access.problems(tree)
        found += templates.amounts(tree)
        found += amiss.names(partition, tree, path)
        found += amiss.zeros(tree)
        found += casing.problems(partition, tree)
    return tuple(found)


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
