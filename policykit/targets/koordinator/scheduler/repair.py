"""Repairs of a given koord-scheduler-config, so that a release starts with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from policykit.errors import PolicykitError
from policykit.manifests.patch import Patch, patched
from policykit.manifests.problem import Problem
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator.scheduler import configuration, validator


class RepairResult(NamedTuple):
    """Changes, and a notice for each."""

    patches: tuple[Patch, ...] = ()
    notices: tuple[str, ...] = ()


def repair(data: Mapping[str, Any], version: Version) -> RepairResult:
    """Fixes every problem that has a certain fix, one at a time: removing an entry moves those after it.

    Raises PolicykitError if the apiVersion cannot be changed.
    """
    patches: list[Patch] = []
    notices: list[str] = []
    while True:
        found = validator.problems(configuration.read(data), version)
        problem = next((each for each in found if _is_fixed(each)), None)
        if problem is None:
            return RepairResult(tuple(patches), tuple(dict.fromkeys(notices)))
        if problem.repair is None:
            raise PolicykitError(problem.message, problem.help)
        data = reduce(patched, problem.repair.patches, data)
        patches += problem.repair.patches
        notices.append(f"{problem.message}; gen had to {problem.repair.description}")


def _is_fixed(problem: Problem) -> bool:
    return problem.path == ("apiVersion",) or (problem.repair is not None and problem.repair.certain)


def remaining_problems(data: Mapping[str, Any], version: Version) -> tuple[str, ...]:
    """Problems in the written configuration that users must fix themselves."""
    found = validator.problems(configuration.read(data), version)
    return tuple(dict.fromkeys(f"{problem.message}. {problem.help}" for problem in found))
