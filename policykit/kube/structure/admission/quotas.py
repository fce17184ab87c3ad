"""Quotas and LimitRanges."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import is_extended, is_hugepages
from policykit.kube.structure.admission.checks import Data, refused, words
from policykit.kube.structure.conflicts import fraction, fractions
from policykit.kube.structure.problem import INCONSISTENT, located
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.nearest import some

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


def elastic_quota(data: Data) -> Iterator[Problem]:
    """Of CapacityScheduling: pods above max are refused, so more than that is never guaranteed.

    Source: `pkg/capacityscheduling` of scheduler-plugins (0.34).
    """
    spec = mapping(data.get("spec"))
    most = mapping(spec.get("max"))
    for name, written in mapping(spec.get("min")).items():
        least, limit = parse(written), parse(most.get(name))
        if least is not None and limit is not None and least.nanos > limit.nanos:
            yield refused(
                ("spec", "min", name),
                f"is {written}, above {most[name]} of spec.max: no more than that is ever used",
                "lower it, or raise max",
                Severity.WARNING,
            )


def limit_range(data: Data) -> Iterator[Problem]:
    """Source: `ValidateLimitRange` (Kubernetes v1.36)."""
    seen: dict[object, int] = {}
    for position, item in numbered(lookup(data, ("spec", "limits"))):
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
        if kind == "PersistentVolumeClaim" and "..." not in item:
            bounds = [item.get(field) for field in ("min", "max")]
            if not any(isinstance(each, dict) and "storage" in each for each in bounds):
                what = "has no min or max of storage, which type PersistentVolumeClaim demands"
                advice = "add max: {storage: 1Ti}: the API server refuses it"
                yield refused(base, what, advice, kind=INCONSISTENT)
        yield from _amounts(item, base)
        ratios = item.get("maxLimitRequestRatio")
        for name, ratio in ratios.items() if isinstance(ratios, dict) else ():
            quantity = parse(ratio)
            if quantity is not None and quantity.nanos < _UNIT:
                advice = "write 1 or more: limits are never below requests"
                yield refused((*base, "maxLimitRequestRatio", name), f"is {ratio}, below 1", advice)
        for field in _FIELDS:
            for problem in fractions(item.get(field), (field,)):
                yield located(problem, base)


_OF_QUEUES: tuple[Path, ...] = (("capability",), ("deserved",), ("guarantee", "resource"))


def volcano_queue(data: Data) -> Iterator[Problem]:
    """Amounts, as those of pods."""
    for field in _OF_QUEUES:
        for problem in fractions(lookup(data, ("spec", *field)), field):
            yield located(problem, ("spec",))


def kueue_queue(data: Data) -> Iterator[Problem]:
    """Amounts of a ClusterQueue or Cohort."""
    for group, each in numbered(lookup(data, ("spec", "resourceGroups"))):
        for flavor, stated in numbered(each.get("flavors")):
            for position, quota in numbered(stated.get("resources")):
                base: Path = ("spec", "resourceGroups", group, "flavors", flavor, "resources", position)
                for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                    for problem in fraction(quota.get("name"), quota.get(field), (field,)):
                        yield located(problem, base)


_UNIT = 1_000_000_000
"""Billionths, in which quantities are parsed."""
_COUNTED = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
_STATES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort")
"""Scopes of a quota that have no values."""


def resource_quota(data: Data) -> Iterator[Problem]:
    """Source: `ValidateResourceQuotaSpec` (v1.36); amounts as of pods, where the API server
    only warns."""
    for problem in fractions(lookup(data, ("spec", "hard")), ("hard",)):
        yield located(problem, ("spec",))
    hard = lookup(data, ("spec", "hard"))
    for name, amount in hard.items() if isinstance(hard, dict) else ():
        quantity = parse(amount) if name in _COUNTED else None
        if quantity is not None and quantity.nanos % _UNIT:
            yield refused(
                ("spec", "hard", name), f"is {amount}, but {name} are counted", "write a whole number"
            )
    scopes: Path = ("spec", "scopes")
    named = [name for _, name in words(lookup(data, scopes))]
    for one, other in (_STATES[:2], _STATES[2:]):
        if one in named and other in named:
            where: Path = (*scopes, named.index(other))
            what = f"is {other}, which excludes {one}"
            yield refused(where, what, "write a quota for each: the API server refuses it")
    for number, name in words(lookup(data, scopes)):
        yield from _uncounted(hard, name, (*scopes, number))
    listed: Path = ("spec", "scopeSelector", "matchExpressions")
    for position, term in numbered(lookup(data, listed)):
        operator, scope, values = term.get("operator"), term.get("scopeName"), term.get("values")
        path: Path = (*listed, position)
        yield from _uncounted(hard, scope, (*path, "scopeName"))
        if scope in _STATES and isinstance(operator, str) and operator != "Exists":
            yield refused(
                (*path, "operator"), f"is {operator}, but {scope} takes only Exists", "write Exists"
            )
        elif operator in ("Exists", "DoesNotExist") and values:
            yield refused(
                (*path, "values"), f"conflicts with operator {operator}", "delete one of the two", key=True
            )
        elif operator in ("In", "NotIn") and not values:
            yield refused((*path, "operator"), f"is {operator} without values", "list the values")


_COMPUTE = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_STANDARD = (_COUNTED | _COMPUTE | {"requests.storage"}) | {
    f"{side}ephemeral-storage" for side in ("", "limits.", "requests.")
}
"""Keys without a domain that a quota may have."""


def _uncounted(hard: object, scope: object, path: Path) -> Iterator[Problem]:
    """Source: `IsResourceQuotaScopeValidForResource` (v1.36)."""
    if scope not in (*_STATES, "PriorityClass", "CrossNamespacePodAffinity"):
        return
    counted = {"pods"} if scope == "BestEffort" else {"pods", *_COMPUTE}
    names = [name for name in (hard if isinstance(hard, dict) else ()) if name in _STANDARD - counted]
    if names:
        yield refused(
            path,
            f"is {scope}, under which {some(names)} cannot be counted",
            f"move {'it' if len(names) == 1 else 'them'} to a quota without the scope",
        )


def _amounts(item: Data, base: Path) -> Iterator[Problem]:
    reported: set[str] = set()
    for low, high in _PAIRS:
        lower, upper = item.get(low), item.get(high)
        if not isinstance(lower, dict) or not isinstance(upper, dict):
            continue
        for name in lower:
            least, most = parse(lower[name]), parse(upper.get(name))
            if name in reported or least is None or most is None or least.nanos <= most.nanos:
                continue
            reported.add(name)
            yield refused(
                (*base, low, name),
                f"is {lower[name]}, above {high} {upper[name]}",
                f"raise {high} or lower {low}",
            )
    yield from _whole(item, base, reported)


def _whole(item: Data, base: Path, reported: set[str]) -> Iterator[Problem]:
    """Resources that cannot be overcommitted are requested as they are limited."""
    requested, limit = item.get("defaultRequest"), item.get("default")
    if not isinstance(requested, dict) or not isinstance(limit, dict):
        return
    for name in requested:
        if name in reported or not isinstance(name, str) or not (is_extended(name) or is_hugepages(name)):
            continue
        asked, most = parse(requested[name]), parse(limit.get(name))
        if asked is not None and most is not None and asked.nanos != most.nanos:
            yield refused(
                (*base, "defaultRequest", name),
                f"is {requested[name]}, but default is {limit[name]}: {name} cannot be overcommitted",
                "write the same amount in both",
            )
