"""Placement and resources of pods in objects without a schema, which operators copy into pods as they are.

A field counts only in the form that Kubernetes gives it, since an operator may call something else so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from policykit.kube import affinity, requests, tolerations
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.table import known as has_pods
from policykit.kube.structure.problem import (
    BAD_VALUE,
    CONFLICTING,
    INVALID_LABEL,
    INVALID_QUANTITY,
    WRONG_TYPE,
    conversion_hint,
    described,
    located,
    value_problem,
)
from policykit.manifests.path import Path, dotted
from policykit.manifests.problem import Problem
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple

_OF_TERMS = frozenset({affinity.PREFERRED, affinity.REQUIRED})
_PATTERNS = (
    "gatekeeper.sh",
    "jspolicy.com",
    "kubewarden.io",
    "kuttl.dev",
    "kyverno.io",
    "open-cluster-management.io",
)
"""Groups of objects with patterns of others, and with what a test compares them with."""
_VALUES = frozenset({"helmValues", "values", "valuesInline", "valuesObject"})
"""Of charts, which are read as pods are."""
_KINDS = frozenset({BAD_VALUE, CONFLICTING, INVALID_LABEL, WRONG_TYPE})
"""What is wrong whoever reads it."""
_SCALARS = (bool, int, float)
_DEEPEST = 32


CheckPart = Callable[[str, dict[str, Any]], Iterable[Problem]]
"""Problems of a part of a pod by its name."""


def problems(data: Mapping[str, Any], api_version: str, kind: str, check: CheckPart) -> Iterator[Problem]:
    """Nothing of kinds whose pods are known: rules about pods report these."""
    if not (has_pods(api_version, kind) or api_version.partition("/")[0].endswith(_PATTERNS)):
        yield from _of_mapping(data, (), _Walk(check, set()))


class _Walk(NamedTuple):
    check: CheckPart
    seen: set[int]
    """Mappings that were read, which aliases may share."""


def _of_mapping(data: Mapping[str, Any], path: Path, walk: _Walk) -> Iterator[Problem]:
    if id(data) in walk.seen or len(path) > _DEEPEST:
        return
    walk.seen.add(id(data))
    for key, value in data.items():
        if type(value) is dict:
            here = (*path, key)
            if key == "affinity" and _is_affinity(value):
                yield from _affinity(value, here, walk.check)
            elif key == "nodeSelector":
                yield from _selector(value, here)
            elif key == "resources" and _are_resources(value):
                yield from _resources(value, here, walk.check)
            if key not in _VALUES:
                yield from _of_mapping(value, here, walk)
        elif type(value) is list:
            here = (*path, key)
            if key == "tolerations":
                yield from _tolerations(value, here)
            for position, item in enumerate(value):
                if type(item) is dict:
                    yield from _of_mapping(item, (*here, position), walk)


def _is_affinity(value: Mapping[str, Any]) -> bool:
    return value.keys() <= affinity.KINDS and all(
        each is None or (isinstance(each, dict) and each.keys() <= _OF_TERMS) for each in value.values()
    )


def _affinity(value: dict[str, Any], path: Path, check: CheckPart) -> Iterator[Problem]:
    for problem in check("Affinity", value):
        if problem.kind in _KINDS:
            yield _placed(problem, path)


def _placed(problem: Problem, base: Path) -> Problem:
    """The problem of a part, which names its own place in the message."""
    path = (*base, *problem.path)
    return problem._replace(path=path, message=problem.message.replace(dotted(problem.path), dotted(path), 1))


def _are_resources(value: Mapping[str, Any]) -> bool:
    amounts = (value.get("requests"), value.get("limits"))
    return value.keys() <= requests.FIELDS and any(isinstance(each, dict) for each in amounts)


def _resources(value: dict[str, Any], path: Path, check: CheckPart) -> Iterator[Problem]:
    """A warning: the operator may read an amount in its own way."""
    for problem in check("ResourceRequirements", value):
        if problem.kind in (CONFLICTING, INVALID_QUANTITY):
            yield _placed(problem, path)._replace(severity=Severity.WARNING)


def _selector(value: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """A number, true or false beside nothing but texts."""
    if any(isinstance(each, (dict, list)) for each in value.values()):
        return
    for key, each in value.items():
        if isinstance(each, _SCALARS):
            words = f"must be a string, but is {described(each)}"
            problem = value_problem(WRONG_TYPE, words, conversion_hint("string", each))
            yield located(problem, (*path, key))


def _tolerations(listed: list[Any], path: Path) -> Iterator[Problem]:
    if not all(isinstance(each, dict) and each.keys() <= tolerations.FIELDS for each in listed):
        return
    read = tolerations.read(listed)
    for position, (written, toleration) in enumerate(zip(listed, read, strict=True)):
        here = (*path, position)
        for field, each in written.items():
            if field != "tolerationSeconds" and isinstance(each, _SCALARS):
                words = f"must be a string, but is {described(each)}"
                problem = value_problem(WRONG_TYPE, words, conversion_hint("string", each))
                yield located(problem, (*here, field))
        # One problem per field: the first is the one to fix.
        for field, message in dict(reversed(tolerations.problems(toleration, comparison=True))).items():
            if not is_placeholder(getattr(toleration, field)):
                advice = tolerations.ADVICE[field]
                yield Problem((*here, field), f"invalid toleration: {message}", advice, kind=CONFLICTING)
