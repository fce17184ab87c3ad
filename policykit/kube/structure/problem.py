"""Kinds of problems with an object's structure."""

from __future__ import annotations

from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem

UNKNOWN_FIELD = "unknown-field"
WRONG_TYPE = "wrong-type"
BAD_VALUE = "bad-value"
MISSING_FIELD = "missing-field"
INVALID_QUANTITY = "invalid-quantity"
INVALID_LABEL = "invalid-label"
INCONSISTENT = "inconsistent"
"""Values that are valid on their own but contradict each other."""
CONFLICTING = "conflicting"
"""Values of one part that exclude each other, even in a patch."""
MISSING_REFERENCE = "missing-reference"
"""A name of something the object does not contain; a program that completes the object may add it."""


def value_problem(kind: str, predicate: str, help_: str = "", path: Path = ()) -> Problem:
    """A problem of a value on its own: `predicate` follows its name, and `path` starts at the value."""
    return Problem(path, predicate, help_, kind=kind)


def located(problem: Problem, base: Path, name: str = "", *, key: bool = False) -> Problem:
    """A problem of a value as one of the object that contains it at `base`."""
    path = (*base, *problem.path)
    return problem._replace(path=path, message=f"{name or dotted(path)} {problem.message}", key=key)
