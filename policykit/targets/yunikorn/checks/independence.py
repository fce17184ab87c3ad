"""What is certain of a file of which YuniKorn does not decode a part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from policykit.manifests.path import Path, lookup
from policykit.targets.yunikorn.checks.problem import Problem

_STATED = frozenset(
    {
        *("acl", "acl-comma", "acl-name", "acl-spaces", "amount", "filter-case", "filter-name"),
        *("filter-type", "limit-applications", "limit-max", "limit-name", "limit-order", "limit-twice"),
        *("max-above", "max-guaranteed", "node-sort", "old-units", "property", "resource-name"),
        *("root-resources", "rule-root", "rule-unknown"),
    }
)
"""Two values that stand there disagree, or one is wrong by itself: nothing beside them helps."""
_LACKING = frozenset(
    {
        *("applications", "limit-empty", "limit-nobody", "limit-zero", "max-zero"),
        *("no-queues", "rule-value"),
    }
)
"""Something is not there: a key that is not read, in the same map, may be it."""
_NAMES = frozenset({"partition-name", "queue-name", "queue-name-twice", "rule-name"})
"""A name that is wrong, or none."""
_SUMS = frozenset({"guaranteed-sum", "max-sum"})
"""Amounts of all queues below, of which some may be missing."""


def certain(
    problems: Iterable[Problem], undecoded: Iterable[Problem], data: object = None
) -> Iterator[Problem]:
    """The problems that stay whatever is made of the parts of `data` that do not decode."""
    broken = _Broken.of(undecoded)
    return (problem for problem in problems if not broken.may_undo(problem, data))


class _Broken(NamedTuple):
    """The parts that do not decode: a file may have thousands of them, and of other problems."""

    paths: frozenset[Path]
    maps: frozenset[Path]
    """What holds them: a map, or a list with an item."""
    around: frozenset[Path]
    """The maps and all above them."""
    partitions: frozenset[Path]
    everywhere: bool
    """A part of no single partition is among them."""

    @classmethod
    def of(cls, undecoded: Iterable[Problem]) -> _Broken:
        paths = frozenset(each.path for each in undecoded)
        maps = frozenset(map(_map_of, paths))
        around = frozenset(path[:length] for path in maps for length in range(len(path) + 1))
        partitions = frozenset(path[:2] for path in paths)
        return cls(paths, maps, around, partitions, any(len(path) < 2 for path in paths))

    def may_undo(self, problem: Problem, data: object) -> bool:
        path, rule = problem.path, problem.rule
        if any(path[:length] in self.paths for length in range(len(path) + 1)):
            return True
        if rule in _STATED:
            return False
        if rule in _NAMES:
            return path[:-1] in self.maps and lookup(data, path) is None
        if rule in _LACKING:
            return path in self.maps or path[:-1] in self.maps
        if rule in _SUMS:
            return path[: path.index("resources")] in self.around
        return self.everywhere or path[:2] in self.partitions


def _map_of(path: Path) -> Path:
    """The map that holds a key, or a list with an item."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]
