"""An API kind does not have the field.

The API server refuses the field under strict validation and drops it otherwise, so it never takes
effect. The usual cause is indentation: a block is next to the field it belongs under.

Of the pod templates of a SparkApplication the API server has no schema: it keeps the field and only the
operator drops it, so there it is a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from policykit.kube.structure import Problem
from policykit.kube.structure import check as problems_of
from policykit.kube.structure.problem import INVALID_LABEL, INVALID_QUANTITY, UNKNOWN_FIELD, WRONG_TYPE
from policykit.kube.structure.schema import ServedApis
from policykit.linter.rule import Context, Fix, Rule, Structure, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import EditError, Move, Patch, patched
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.severity import Applicability, Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: app
  labels:
  queue: root.research
spec:
  containers:
  - name: main
    image: registry.example.com/app:1.0
"""
GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: app
  labels:
    queue: root.research
spec:
  containers:
  - name: main
    image: registry.example.com/app:1.0
"""


def check(structure: Structure, context: Context) -> Iterator[Violation]:
    for problem in structure.problems:
        if problem.kind == UNKNOWN_FIELD and not _deletes(structure.manifest, problem):
            fix = partial(_fix, structure, problem, context.served) if problem.intended else None
            yield Violation(
                problem.path, problem.message, problem.help, problem.severity, problem.key, fix=fix
            )


def _deletes(manifest: Manifest, problem: Problem) -> bool:
    """Whether it is null in a patch: what is patched does not have it afterwards, as before."""
    return manifest.partial and lookup(manifest.data, problem.path) is None


def _fix(structure: Structure, problem: Problem, served: ServedApis) -> Fix | None:
    """Renames or moves the field as intended; None if that would cause another problem."""
    manifest = structure.manifest
    if problem.path[:-1] == problem.intended[:-1]:
        name = str(problem.intended[-1])
        patches, together = [Patch("rename", problem.path, name)], [problem]
        title = f"rename `{problem.path[-1]}` to `{name}`"
    else:
        together = [p for p in structure.problems if _moves_with(p, problem) and _is_free(manifest, p)]
        patches = [_move(moved) for moved in together]
        title = _title(together)
    places = [moved.intended for moved in together]
    if not _is_free(manifest, problem) or not _removes_problems(structure, patches, places, served):
        return None
    return Fix(title, tuple(patches), Applicability.UNSAFE)


def _moves_with(other: Problem, problem: Problem) -> bool:
    """Whether both fields move together, as parts of one block."""
    return (
        other.kind == UNKNOWN_FIELD
        and bool(other.intended)
        and other.path[:-1] == problem.path[:-1]
        and other.intended[:-1] == problem.intended[:-1]
    )


def _is_free(manifest: Manifest, problem: Problem) -> bool:
    """Whether the intended path is free, and no list on the way makes it ambiguous."""
    place = problem.intended
    for depth in range(_shared(problem), len(place)):
        above = lookup(manifest.data, place[:depth])
        if isinstance(place[depth], int) and not (isinstance(above, list) and len(above) == 1):
            return False
    above = lookup(manifest.data, place[:-1])
    return above is None or (isinstance(above, dict) and place[-1] not in above)


def _move(problem: Problem) -> Patch:
    shared = _shared(problem)
    return Patch("move", problem.path[:shared], Move(problem.path[shared:], problem.intended[shared:]))


def _shared(problem: Problem) -> int:
    """Length of the common prefix of the actual and the intended path."""
    old, new = problem.path[:-1], problem.intended[:-1]
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )


def _title(moved: Sequence[Problem]) -> str:
    if not moved:
        return ""
    names = " and ".join(f"`{problem.path[-1]}`" for problem in moved)
    here, there = moved[0].path[:-1], moved[0].intended[:-1]
    if here == there[:-1]:
        return f"indent {names} under `{there[-1]}:`"
    return f"move {names} to {dotted(there) if there else 'the top level'}"


def _removes_problems(
    structure: Structure, patches: Iterable[Patch], places: Collection[Path], served: ServedApis
) -> bool:
    """Whether each patch removes one problem, and none causes another."""
    manifest, made = structure.manifest, 0
    data = manifest.data
    try:
        for patch in patches:
            data, made = patched(data, patch), made + 1
    except EditError:
        return False
    after = problems_of(data, manifest.api_version, manifest.kind, served)
    if any(fault.kind == WRONG_TYPE and fault.path in places for fault in after):
        return False
    return _weight(after) <= _weight(structure.problems) - made


def _weight(problems: Iterable[Problem]) -> int:
    """Problems that a wrong guess would cause. Labels and amounts are checked by their own rules."""
    return sum(problem.kind not in (INVALID_LABEL, INVALID_QUANTITY) for problem in problems)


RULE = Rule(
    code="PK003",
    name="unknown-field",
    severity=Severity.ERROR,
    subject=Structure,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
