"""Fields of one part of a pod that are valid on their own but contradict each other.

Sources: `ValidatePodSpec` and what it calls (v1.36). They apply to every kind with such a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.names import is_extended
from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT, value_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.quantity import parse

FILE = "kubernetes/pod.json"
"""The schema file that defines the parts."""


def conflicts(part: str, value: Mapping[str, Any]) -> Iterator[Problem]:
    """Problems in a part of a pod; `part` is the name of its definition, such as ResourceRequirements."""
    check = _CHECKS.get(part)
    if check is not None and "..." not in value:  # else some of it is left out
        yield from check(value)


def _conflict(path: Path, predicate: str, help_: str, kind: str = CONFLICTING) -> Problem:
    return value_problem(kind, predicate, help_, path)


def _resources(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Requests must not exceed limits. Another rule covers extended resources."""
    requests, limits = value.get("requests"), value.get("limits")
    if not isinstance(requests, dict) or not isinstance(limits, dict):
        return
    for resource in requests:
        if not isinstance(resource, str) or resource not in limits or is_extended(resource):
            continue
        requested, limit = parse(requests[resource]), parse(limits[resource])
        if requested is not None and limit is not None and requested.nanos > limit.nanos:
            yield _conflict(
                ("requests", resource),
                f"is {requests[resource]}, above the limit {limits[resource]}",
                f"raise the limit of {resource} or request less: the API server rejects the pod",
            )


def _expression(value: Mapping[str, Any]) -> Iterator[Problem]:
    operator, values = value.get("operator"), value.get("values") or []
    if operator in ("In", "NotIn") and not values:
        yield _conflict(
            ("operator",), f"is {operator}, but there are no values", f"list the values of {operator}"
        )
    elif operator in ("Exists", "DoesNotExist") and values:
        yield _conflict(("values",), f"is set, but operator {operator} takes no values", "delete the values")


def _needed(*fields: str) -> _Check:
    def check(value: Mapping[str, Any]) -> Iterator[Problem]:
        there = any(value.get(field) is not None for field in fields)
        if not there and not any(map(is_placeholder, value)):
            listed = f"{', '.join(fields[:-1])} or {fields[-1]}"
            yield _conflict((), f"has no {listed}", f"add {listed}: the API server requires it", INCONSISTENT)

    return check


def _variable(value: Mapping[str, Any]) -> Iterator[Problem]:
    if value.get("value") and value.get("valueFrom"):
        yield _conflict(
            ("valueFrom",), "conflicts with value: a variable takes only one of them", "delete one of the two"
        )


def _volume(value: Mapping[str, Any]) -> Iterator[Problem]:
    sources = [field for field in value if field != "name" and value[field] is not None]
    if len(sources) > 1 and not any(map(is_placeholder, sources)):
        yield _conflict(
            (sources[1],), f"conflicts with {sources[0]}: a volume has one source", "delete one of the two"
        )


def _claim(value: Mapping[str, Any]) -> Iterator[Problem]:
    one, other = _OF_CLAIMS
    if value.get(one) and value.get(other):
        yield _conflict(
            (other,), f"conflicts with {one}: a claim takes only one of them", "delete one of the two"
        )
    elif "source" not in value:  # of releases up to 1.30
        yield from _needed(*_OF_CLAIMS)(value)


_Check = Callable[[Mapping[str, Any]], Iterator[Problem]]
_OF_CLAIMS = ("resourceClaimName", "resourceClaimTemplateName")
_CHECKS: Mapping[str, _Check] = {
    "EnvFromSource": _needed("configMapRef", "secretRef"),
    "EnvVar": _variable,
    "EnvVarSource": _needed("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"),
    "LabelSelectorRequirement": _expression,
    "PodResourceClaim": _claim,
    "ResourceRequirements": _resources,
    "Volume": _volume,
}
"""Name of the definition to check."""
