"""What is certain of a file of which YuniKorn does not decode a part."""

from __future__ import annotations

from collections.abc import Sequence

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


def independent(problem: Problem, undecoded: Sequence[Problem], data: object = None) -> bool:
    """Whether a problem stays whatever is made of the parts of `data` that do not decode."""
    return not any(_depends(problem, each.path, data) for each in undecoded)


def _depends(problem: Problem, broken: Path, data: object) -> bool:
    path, rule = problem.path, problem.rule
    if path[: len(broken)] == broken:
        return True
    owner = _map_of(broken)
    if rule in _STATED:
        return False
    if rule in _NAMES:
        return lookup(data, path) is None and owner == path[:-1]
    if rule in _LACKING:
        return owner in (path, path[:-1])
    if rule in _SUMS:
        queue = path[: path.index("resources")]
        return owner[: len(queue)] == queue
    return path[:2] == broken[:2] or len(broken) < 2


def _map_of(path: Path) -> Path:
    """The map that holds a key, or a list with an item."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path[:-1]
