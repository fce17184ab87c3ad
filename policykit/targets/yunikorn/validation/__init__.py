"""Validation of a queue configuration: what the scheduler refuses, and what fails at run time.

Source: core configvalidator.go, release 1.9. Older releases know fewer keys, and check the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.release import Version, ranges
from policykit.model.severity import Severity
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration.queues_yaml import Configuration, Partition, queue_tree, read
from policykit.targets.yunikorn.validation import decoding, failures, placement, queues
from policykit.targets.yunikorn.validation.problem import UndecodedParts, certain_problems

_NEWEST = versions.parse("")


def problems(data: object, version: Version = _NEWEST) -> tuple[Problem, ...]:
    """All problems for which the scheduler refuses a queues.yaml, in the order of its checks.

    The scheduler stops at the first part that it cannot decode. Here all of them are listed, and those
    other problems that correcting these parts cannot resolve.
    """
    undecoded = tuple(decoding.problems(data, version))
    rest = refused(read(data), version) if isinstance(data, dict) else ()
    return (*undecoded, *certain_problems(rest, UndecodedParts.of(undecoded), data))


def agreed_problems(data: object, stated: Version | None) -> tuple[Problem, ...]:
    """Problems for the stated release. Where none is stated, those for the newest one, and what an older
    one accepts is a warning that names those that refuse it."""
    found = problems(data, stated or _NEWEST)
    if stated or not found:
        return found
    by_release = {version: _places(problems(data, version)) for version in versions.RELEASES.minors}
    return tuple(_agreed(each, by_release) for each in found)


def _places(found: Iterable[Problem]) -> frozenset[tuple[str, Path]]:
    return frozenset((each.kind, each.path) for each in found)


def _agreed(found: Problem, by_release: Mapping[Version, frozenset[tuple[str, Path]]]) -> Problem:
    refusing = [version for version, places in by_release.items() if (found.kind, found.path) in places]
    if len(refusing) == len(by_release):
        return found
    named = f"{found.message} (refused by YuniKorn {ranges(refusing, tuple(by_release))})"
    return found._replace(message=named, severity=found.severity or Severity.WARNING)


def refused(configuration: Configuration, version: Version = _NEWEST) -> tuple[Problem, ...]:
    """Problems for which the scheduler refuses a configuration that decodes."""
    found = list(queues.partitions(configuration))
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None:
            found += _partition(partition, ("partitions", number), version)
    return tuple(found)


def failing(configuration: Configuration) -> tuple[Problem, ...]:
    """Problems that the scheduler accepts and that fail, or mean something else, at run time."""
    found: list[Problem] = []
    for number, partition in enumerate(configuration.partitions):
        path: Path = ("partitions", number)
        tree = queue_tree(partition, path)
        dead = placement.dead_rules(partition.rules, tree.queue, (*path, "placementrules"))
        # A missing queue is no failure if pods can create it by naming it.
        found += [each for each in dead if each.kind != "rule-parent" or each.severity is None]
        found += failures.access_list_problems(tree)
        found += failures.template_amounts(tree)
        found += failures.resource_names(partition, tree, path)
        found += failures.zeros(tree)
        found += failures.capitals(tree)
    return tuple(found)


def _partition(partition: Partition, path: Path, version: Version) -> Iterator[Problem]:
    tree = queue_tree(partition, path)
    yield from queues.root(partition, tree, version)
    yield from queues.queues(tree, version)
    yield from queues.own(tree, version)
    yield from queues.resources(tree)
    yield from placement.refused(partition.rules, tree, (*path, "placementrules"), version)
    yield from queues.node_sort(partition, path)
    yield from queues.applications(tree)
    yield from queues.inherited(tree, version)
