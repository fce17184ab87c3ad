"""Amounts of LimitRanges and ResourceQuotas."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import is_extended, is_hugepages
from policykit.kube.structure.admission.values import Data, mappings, refused
from policykit.kube.structure.conflicts import fractions
from policykit.kube.structure.problem import located
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.model.quantity import parse

_PAIRS = (
    ("min", "max"),
    ("min", "defaultRequest"),
    ("min", "default"),
    ("defaultRequest", "max"),
    ("defaultRequest", "default"),
    ("default", "max"),
)
"""The first must not be above the second."""
_FIELDS = ("default", "defaultRequest", "max", "min")


def limit_range(data: Data) -> Iterator[Problem]:
    """Source: `ValidateLimitRange` (Kubernetes v1.36)."""
    seen: dict[object, int] = {}
    for position, item in mappings(lookup(data, ("spec", "limits"))):
        base: Path = ("spec", "limits", position)
        kind = item.get("type")
        if isinstance(kind, str) and seen.setdefault(kind, position) != position:
            yield refused(
                (*base, "type"), f"is {kind}, which spec.limits[{seen[kind]}] has too", "merge the two"
            )
        if kind == "Pod":
            for field in ("default", "defaultRequest"):
                if item.get(field):
                    advice = "set defaults of containers: type: Container"
                    yield refused((*base, field), "may not be set for type Pod", advice, key=True)
            continue
        yield from _amounts(item, base)
        for field in _FIELDS:
            for problem in fractions(item.get(field), (field,)):
                yield located(problem, base)


def resource_quota(data: Data) -> Iterator[Problem]:
    """Source: as of pods, although the API server warns only there."""
    for problem in fractions(lookup(data, ("spec", "hard")), ("hard",)):
        yield located(problem, ("spec",))


def _amounts(item: Data, base: Path) -> Iterator[Problem]:
    said: set[str] = set()
    for low, high in _PAIRS:
        lower, upper = item.get(low), item.get(high)
        if not isinstance(lower, dict) or not isinstance(upper, dict):
            continue
        for name in lower:
            least, most = parse(lower[name]), parse(upper.get(name))
            if name in said or least is None or most is None or least.nanos <= most.nanos:
                continue
            said.add(name)
            yield refused(
                (*base, low, name),
                f"is {lower[name]}, above {high} {upper[name]}",
                f"raise {high} or lower {low}",
            )
    yield from _whole(item, base, said)


def _whole(item: Data, base: Path, said: set[str]) -> Iterator[Problem]:
    """Resources that cannot be overcommitted are requested as they are limited."""
    requested, limit = item.get("defaultRequest"), item.get("default")
    if not isinstance(requested, dict) or not isinstance(limit, dict):
        return
    for name in requested:
        if name in said or not isinstance(name, str) or not (is_extended(name) or is_hugepages(name)):
            continue
        asked, most = parse(requested[name]), parse(limit.get(name))
        if asked is not None and most is not None and asked.nanos != most.nanos:
            yield refused(
                (*base, "defaultRequest", name),
                f"is {requested[name]}, but default is {limit[name]}: {name} cannot be overcommitted",
                "write the same amount in both",
            )
