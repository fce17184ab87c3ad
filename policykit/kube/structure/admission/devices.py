"""Claims of devices, and their classes: resource.k8s.io."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.names import dns_label_problem, dns_subdomain_problem
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import (
    Data,
    alternatives,
    mappings,
    name_of,
    refused,
    words,
)
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import whole
from policykit.nearest import some


def device_requests(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceClaim` and what it calls, of resource.k8s.io (Kubernetes v1.36)."""
    flat = data.get("apiVersion") in _FLAT
    for spec in (("spec",), ("spec", "spec")):
        base: Path = (*spec, "devices")
        names: set[str] = set()
        for position, request in mappings(lookup(data, (*base, "requests"))):
            at: Path = (*base, "requests", position)
            name = name_of(request)
            if name and name in names:
                yield _twice(name, (*at, "name"))
            names.add(name)
            yield from _name(name, (*at, "name"))
            yield from _form(request, at, flat=flat)
            path = (*at, "exactly") if "exactly" in request else at
            yield from _devices(lookup(data, path), path)
            for number, choice in mappings(request.get("firstAvailable")):
                part = f"{name}/{name_of(choice)}"
                if part in names and name_of(choice):
                    yield _twice(name_of(choice), (*at, "firstAvailable", number, "name"))
                names.add(part)
                yield from _devices(choice, (*at, "firstAvailable", number))
        if names and not any(each.endswith("/") or not each for each in names):
            yield from _of_requests(data, base, names)


def _devices(request: object, path: Path) -> Iterator[Problem]:
    if not isinstance(request, dict):
        return
    mode, count = request.get("allocationMode"), whole(request.get("count"))
    if isinstance(mode, str) and mode not in _ALLOCATIONS and not is_filled_in(mode):
        yield refused((*path, "allocationMode"), f"is {mode}", f"write {' or '.join(_ALLOCATIONS)}")
    if count is not None and count < 0:  # 0 becomes the default
        yield refused((*path, "count"), f"is {count}, but must be at least 1", "write 1 or more")
    elif count and mode == "All":
        yield refused((*path, "count"), f"is {count}, which conflicts with allocationMode All", "delete one")
    device_class = name_of(request, "deviceClassName")
    if device_class and (fault := dns_subdomain_problem(device_class)):
        where = (*path, "deviceClassName")
        yield refused(where, f"is {device_class}, which {fault}", "write the name of a DeviceClass")
    yield from _selectors(request.get("selectors"), (*path, "selectors"))
    yield from _tolerations(request.get("tolerations"), (*path, "tolerations"))


_FLAT = ("resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1")
"""Versions in which a request has its class without `exactly`."""
_WHO = "the API server refuses it"


def _twice(name: str, path: Path) -> Problem:
    return refused(path, f"is {name}, which another request is named too", "give each request its own name")


def _name(name: str, path: Path) -> Iterator[Problem]:
    if name and (fault := dns_label_problem(name)):
        yield refused(path, f"is {name}, which {fault}", f"write another name: {_WHO}")


def _form(request: Data, at: Path, *, flat: bool) -> Iterator[Problem]:
    """A request is of one class, or of the first of several that is there."""
    fields = ("deviceClassName" if flat else "exactly", "firstAvailable")
    other = next((field for field in ("exactly", "deviceClassName") if field not in fields), "")
    if request.get(other) is None:  # else the field of another version is reported
        yield from alternatives(request, at, fields, _WHO, needed=True)


def _selectors(listed: object, path: Path) -> Iterator[Problem]:
    for position, selector in mappings(listed):
        cel: Path = (*path, position, "cel", "expression")
        expression = lookup(selector, ("cel", "expression"))
        if selector.get("cel") is None or expression == "":
            where = cel if expression == "" else (*path, position)
            what = "is empty" if expression == "" else "has no cel"
            yield refused(where, what, f"write an expression about `device`: {_WHO}", kind=INCONSISTENT)
        elif isinstance(expression, str) and not is_filled_in(expression):
            yield from _expression(expression, cel)


_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


def _expression(expression: str, path: Path) -> Iterator[Problem]:
    """What no expression of CEL contains outside of quotes: one `=`, `and` and `or`."""
    bare = _QUOTED.sub("''", expression)
    if _ASSIGNED.search(bare):
        yield refused(path, f"is {expression}, which is no CEL", f"compare with `==`: {_WHO}")
    elif found := re.search(r"(?<!\.)\b(and|or)\b", bare):
        sign = "&&" if found.group(1) == "and" else "||"
        yield refused(path, f"is {expression}, which is no CEL", f"write `{sign}`: {_WHO}")


def _tolerations(listed: object, path: Path) -> Iterator[Problem]:
    for position, toleration in mappings(listed):
        if toleration.get("operator") == "Exists" and toleration.get("value"):
            where = (*path, position, "value")
            what = f"is {toleration['value']}, but operator Exists takes none"
            yield refused(where, what, f"delete it, or write operator: Equal: {_WHO}", key=True)


def device_class(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceClassSpec` (Kubernetes v1.36)."""
    yield from _selectors(lookup(data, ("spec", "selectors")), ("spec", "selectors"))
    yield from _configurations(lookup(data, ("spec", "config")), ("spec", "config"))


def _configurations(listed: object, path: Path) -> Iterator[Problem]:
    for position, each in mappings(listed):
        if each.get("opaque") is None:
            what = "has no opaque"
            advice = f"write opaque with driver and parameters: {_WHO}"
            yield refused((*path, position), what, advice, kind=INCONSISTENT)


_ATTRIBUTES = ("matchAttribute", "distinctAttribute")


def _constraints(listed: object, path: Path) -> Iterator[Problem]:
    for position, constraint in mappings(listed):
        yield from alternatives(constraint, (*path, position), _ATTRIBUTES, _WHO, needed=True)
        for field in _ATTRIBUTES:
            name = name_of(constraint, field)
            if name and "/" not in name:
                where = (*path, position, field)
                advice = "write it with the domain of its driver, as in resource.kubernetes.io/pcieRoot"
                yield refused(where, f"is {name}, without a domain", f"{advice}: {_WHO}")


def _of_requests(data: Data, base: Path, names: set[str]) -> Iterator[Problem]:
    """Constraints and configurations name requests of the same claim."""
    yield from _constraints(lookup(data, (*base, "constraints")), (*base, "constraints"))
    yield from _configurations(lookup(data, (*base, "config")), (*base, "config"))
    for field in ("constraints", "config"):
        for position, each in mappings(lookup(data, (*base, field))):
            for number, name in words(each.get("requests")):
                if name not in names:
                    yield refused(
                        (*base, field, position, "requests", number),
                        f"is {name}, which is not a request of the claim",
                        f"the requests are {some(sorted(names))}",
                        kind=INCONSISTENT,
                    )


_ALLOCATIONS = ("ExactCount", "All")
