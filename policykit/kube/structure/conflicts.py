"""Fields of one part of a pod that are valid on their own but contradict each other.

Sources: `ValidatePodSpec` and what it calls (v1.36). They apply to every kind with such a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.affinity import NODE_NAME
from policykit.kube.names import is_extended, is_hugepages
from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT, INVALID_QUANTITY, value_problem
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.model.quantity import parse
from policykit.model.severity import Severity

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
    yield from fractions(requests, ("requests",))
    yield from fractions(limits, ("limits",))
    yield from _huge_pages(requests, limits)
    for side, amounts in (("requests", requests), ("limits", limits)):
        cpu = amounts.get("cpu") if isinstance(amounts, dict) else None
        if cpu and not (isinstance(cpu, str) and (cpu.endswith("m") or len(cpu) <= _SHORT)):
            yield from _without_m(cpu, (side, "cpu"))
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
        elif is_hugepages(resource) and requested and limit and requested.nanos != limit.nanos:
            yield _conflict(
                ("requests", resource),
                f"is {requests[resource]}, but the limit is {limits[resource]}",
                "write the same amount in both: huge pages cannot be overcommitted",
            )


def fractions(amounts: object, path: Path) -> Iterator[Problem]:
    """Memory and storage in thousandths of a byte: `m` in place of `M` or `Mi`; processors the other way.
    Memory without a suffix.

    Source: `warningsForPodSpec` (v1.36), which has the same to say of the first.
    """
    for name, value in amounts.items() if isinstance(amounts, dict) else ():
        usual = _USUAL.get(name) if type(value) is str else None
        if usual is None or value[-1:] not in usual:
            yield from fraction(name, value, (*path, name))


_USUAL = {"cpu": frozenset("m0123456789"), "memory": frozenset("i")}
"""Last letters of amounts of which nothing is wrong here."""


def fraction(name: object, value: object, path: Path) -> Iterator[Problem]:
    """One of them, wherever it is written."""
    if name in _PROCESSORS:
        if isinstance(value, str) and value.endswith(_LARGE):
            yield from _of_bytes(value, path)
        return
    if isinstance(value, str) and value.endswith("i"):
        return  # Mi and Gi, as most are
    if isinstance(name, str) and name.endswith(_THOUSANDTHS):
        yield from _thousandths(value, path)
    if name in _MEMORY:
        yield from _without_suffix(value, path)
    if isinstance(value, str) and value.endswith("m") and _is_bytes(name) and parse(value) is not None:
        advice = f"write {value[:-1]}Mi or {value[:-1]}M"
        yield _unlikely(path, f"is {value}: m stands for thousandths of a byte", advice)


def _unlikely(path: Path, predicate: str, help_: str) -> Problem:
    """An amount that is valid, and certainly not what is meant."""
    return _conflict(path, predicate, help_, INVALID_QUANTITY)._replace(severity=Severity.WARNING)


_PROCESSORS = ("cpu", "limits.cpu", "requests.cpu")
_LARGE = ("Ki", "Mi", "Gi", "Ti", "M", "G", "T")


def _of_bytes(value: str, path: Path) -> Iterator[Problem]:
    """Processors with a suffix of memory: 100Mi in place of 100m. A million of them is not a node's."""
    amount = parse(value)
    if amount is None or amount.units < _MANY:
        return
    number = value.rstrip("KMGTi")
    advice = f"write {number}m for thousandths of one, or {number}"
    yield _unlikely(path, f"is {value}: that is {amount.units} processors", advice)


_MEMORY = ("memory", "limits.memory", "requests.memory")
_KIBIBYTE = 1024


def _without_suffix(value: object, path: Path) -> Iterator[Problem]:
    """256 in place of 256Mi: no program has so few bytes."""
    units = _plain_units(value)
    if units is not None and 0 < units < _KIBIBYTE:
        what = f"is {value}: without a suffix that is {units} bytes"
        yield _unlikely(path, what, f"write {value}Mi or {value}Gi")


def _without_m(value: object, path: Path) -> Iterator[Problem]:
    """2000 in place of 2000m: no machine has so many processors."""
    units = _plain_units(value)
    if units is not None and units >= _CORES:
        yield _unlikely(
            path, f"is {value}: that is {units} processors", f"write {value}m for thousandths of one"
        )


def _plain_units(value: object) -> int | None:
    """Of a whole number without a suffix; None: it is something else."""
    whole = value.isdecimal() if isinstance(value, str) else type(value) is int
    amount = parse(value) if whole else None
    return amount.units if amount is not None else None


_CORES = 1000
_SHORT = len("999")
_MANY = 1_000_000
_THOUSANDTHS = ("kubernetes.io/batch-cpu", "kubernetes.io/mid-cpu")
"""Processors that are lent: Koordinator and Volcano's agent count thousandths of one."""
_FEW = 10


def _thousandths(value: object, path: Path) -> Iterator[Problem]:
    """An amount in processors where thousandths of one are counted."""
    amount = parse(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if amount is None or not 0 < amount.nanos < _FEW * 10**9:
        return
    meant = str(value)[:-1] if str(value).endswith("m") else f"{amount.nanos // 10**6}"
    what = f"is {value}: this resource counts thousandths of a processor"
    yield _unlikely(path, what, f"write {meant}")


def _is_bytes(resource: object) -> bool:
    """memory, also as a quota counts it: limits.memory."""
    return isinstance(resource, str) and resource.rpartition(".")[2] in _BYTES


def _huge_pages(requests: object, limits: object) -> Iterator[Problem]:
    """They need a limit, and cpu or memory beside them."""
    for stated, field in ((limits, "limits"), (requests, "requests")):
        amounts: Mapping[Any, Any] = stated if isinstance(stated, dict) else {}
        pages = [name for name in amounts if isinstance(name, str) and is_hugepages(name)]
        if not pages:
            continue
        everything = {
            **(requests if isinstance(requests, dict) else {}),
            **(limits if isinstance(limits, dict) else {}),
        }
        for name in pages:
            amount, page = parse(amounts[name]), parse(name.partition("-")[2])
            if amount is not None and page is not None and page.nanos and amount.nanos % page.nanos:
                yield _conflict(
                    (field, name),
                    f"is {amounts[name]}, no multiple of {name.partition('-')[2]}",
                    "write a whole number of pages: the API server rejects the pod",
                )
                return
        if not any(name in everything for name in ("cpu", "memory")):
            yield _conflict(
                (field, pages[0]),
                "is set, but neither cpu nor memory is",
                "add cpu or memory: the API server rejects huge pages without them",
                INCONSISTENT,
            )
            return
        if field == "requests" and not (isinstance(limits, dict) and pages[0] in limits):
            yield _conflict(
                (field, pages[0]),
                "is requested without a limit",
                "write the same amount in limits: huge pages cannot be overcommitted",
                INCONSISTENT,
            )
            return


def _expression(value: Mapping[str, Any]) -> Iterator[Problem]:
    operator, values = value.get("operator"), value.get("values") or []
    if operator in ("In", "NotIn") and not values:
        yield _conflict(
            ("operator",), f"is {operator}, but there are no values", f"list the values of {operator}"
        )
    elif operator in ("Exists", "DoesNotExist") and values:
        yield _conflict(("values",), f"is set, but operator {operator} takes no values", "delete the values")


def _node_field(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Nodes have one field that can be selected, one value at a time.

    Source: `ValidateNodeFieldSelectorRequirement` (v1.36).
    """
    key, operator, values = value.get("key"), value.get("operator"), value.get("values") or []
    if isinstance(key, str) and key != NODE_NAME and not is_placeholder(key):
        yield _conflict(("key",), f"is {key}, but {NODE_NAME} is the only field", f"write {NODE_NAME}")
    if operator in ("Exists", "DoesNotExist", "Gt", "Lt"):
        yield _conflict(("operator",), f"is {operator}, but a field takes only In or NotIn", "write In")
    elif isinstance(values, list) and len(values) != 1:
        help_ = "write one term for each value"
        yield _conflict(("values",), f"has {len(values)} values, but a field takes exactly one", help_)


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
    sources = [field for field in value if isinstance(value[field], dict)]
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


def _topology_key(value: Mapping[str, Any]) -> Iterator[Problem]:
    if value.get("topologyKey") == "":
        yield _conflict(("topologyKey",), "is empty", "write the key of a node label: kubernetes.io/hostname")


_BYTES = frozenset({"ephemeral-storage", "memory", "storage"})
_Check = Callable[[Mapping[str, Any]], Iterator[Problem]]
_OF_CLAIMS = ("resourceClaimName", "resourceClaimTemplateName")
_CHECKS: Mapping[str, _Check] = {
    "EnvFromSource": _needed("configMapRef", "secretRef"),
    "EnvVar": _variable,
    "EnvVarSource": _needed("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"),
    "LabelSelectorRequirement": _expression,
    "NodeFieldRequirement": _node_field,
    "PodAffinityTerm": _topology_key,
    "PodResourceClaim": _claim,
    "ResourceRequirements": _resources,
    "Volume": _volume,
}
"""Name of the definition to check."""
PARTS = frozenset(_CHECKS)
"""Names of the definitions that have a check."""
