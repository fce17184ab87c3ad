"""Claims of devices, and their classes: resource.k8s.io."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.names import (
    dns_label_problem,
    dns_subdomain_problem,
    is_extended,
    label_key_problem,
    label_value_problem,
)
from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission import cel
from policykit.kube.structure.admission.checks import Data, alternatives, name_of, one_of, refused, words
from policykit.kube.structure.admission.device_parameters import parameters
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import mapping, numbered, whole
from policykit.model.severity import Severity
from policykit.nearest import some


def device_requests(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceClaim` and what it calls, of resource.k8s.io (Kubernetes v1.36)."""
    flat = data.get("apiVersion") in _FLAT
    for spec in (("spec",), ("spec", "spec")):
        base: Path = (*spec, "devices")
        names: set[str] = set()
        for position, request in numbered(lookup(data, (*base, "requests"))):
            at: Path = (*base, "requests", position)
            name = name_of(request)
            if name and name in names:
                yield _twice(name, (*at, "name"))
            names.add(name)
            yield from _name(name, (*at, "name"))
            yield from _form(request, at, flat=flat)
            path = (*at, "exactly") if "exactly" in request else at
            yield from _devices(lookup(data, path), path)
            for number, choice in numbered(request.get("firstAvailable")):
                part = f"{name}/{name_of(choice)}"
                if part in names and name_of(choice):
                    yield _twice(name_of(choice), (*at, "firstAvailable", number, "name"))
                names.add(part)
                yield from _name(name_of(choice), (*at, "firstAvailable", number, "name"))
                yield from _devices(choice, (*at, "firstAvailable", number))
            yield from _few(request, "firstAvailable", at, _CHOICES)
        yield from _few(mapping(lookup(data, base)), "requests", base, _MOST)
        for field in ("constraints", "config"):
            yield from _few(mapping(lookup(data, base)), field, base, _MOST)
        yield from _constraints(lookup(data, (*base, "constraints")), (*base, "constraints"))
        yield from configurations(lookup(data, (*base, "config")), (*base, "config"))
        if names and not any(each.endswith("/") or not each for each in names):
            yield from _of_requests(data, base, names)


_MOST, _CHOICES, _TOLERATED = 32, 8, 16
_LONGEST = 10 * 1024


def _few(data: Data, field: str, base: Path, most: int) -> Iterator[Problem]:
    listed = data.get(field)
    if isinstance(listed, list) and len(listed) > most:
        what = f"has {len(listed)} entries, more than {most}"
        yield refused((*base, field), what, f"write fewer: {_WHO}")
    elif listed == [] and field == "firstAvailable":
        yield refused((*base, field), "is an empty list", f"list the classes to try: {_WHO}")


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
    yield from _few(request, "selectors", path, _MOST)
    yield from _selectors(request.get("selectors"), (*path, "selectors"))
    yield from _few(request, "tolerations", path, _TOLERATED)
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
    for position, selector in numbered(listed):
        cel: Path = (*path, position, "cel", "expression")
        expression = lookup(selector, ("cel", "expression"))
        if selector.get("cel") is None or expression == "":
            where = cel if expression == "" else (*path, position)
            what = "is empty" if expression == "" else "has no cel"
            yield refused(where, what, f"write an expression about `device`: {_WHO}", kind=INCONSISTENT)
        elif isinstance(expression, str) and len(expression) > _LONGEST:
            what = f"has {len(expression)} characters, more than {_LONGEST}"
            yield refused(cel, what, f"shorten it: {_WHO}")
        elif isinstance(expression, str) and not is_filled_in(expression):
            yield from _expression(expression, cel)


def _expression(expression: str, path: Path) -> Iterator[Problem]:
    what, advice = cel.fault(expression)
    if advice:
        why = f": {what}" if what else ""
        yield refused(path, f"is {expression}, which is not CEL{why}", f"{advice}: {_WHO}")
        return
    what, advice = cel.failure(expression)
    if what:
        predicate = f"is {expression}, but {what}: no device is chosen, and pods that need it stay pending"
        yield refused(path, predicate, advice, Severity.WARNING)


def _tolerations(listed: object, path: Path) -> Iterator[Problem]:
    for position, toleration in numbered(listed):
        if toleration.get("operator") == "Exists" and toleration.get("value"):
            where = (*path, position, "value")
            what = f"is {toleration['value']}, but operator Exists takes none"
            yield refused(where, what, f"delete it, or write operator: Equal: {_WHO}", key=True)
        yield from one_of(toleration, ("operator",), _OPERATORS, _WHO, (*path, position))
        yield from _taint(toleration, (*path, position))


_OPERATORS = ("Exists", "Equal")
_EFFECTS = ("NoSchedule", "NoExecute", "None")
"""Of the taint of a device; the last one since 1.35."""


def _taint(taint: Data, path: Path) -> Iterator[Problem]:
    """What a taint and a toleration have in common."""
    yield from one_of(taint, ("effect",), _EFFECTS, _WHO, path)
    key, value = name_of(taint, "key"), name_of(taint, "value")
    if key and (fault := label_key_problem(key)):
        yield refused((*path, "key"), f"is {key}, which {fault}", f"write it as a label key: {_WHO}")
    if value and (fault := label_value_problem(value)):
        yield refused((*path, "value"), f"is {value}, which {fault}", f"write it as a label value: {_WHO}")


def taint_rule(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceTaintRuleSpec` (Kubernetes v1.36)."""
    path: Path = ("spec", "taint")
    yield from _taint(mapping(lookup(data, path)), path)
    path = ("spec", "deviceSelector")
    yield from _driver(mapping(lookup(data, path)), path)


def _driver(data: Data, path: Path) -> Iterator[Problem]:
    driver = name_of(data, "driver")
    if driver and (fault := dns_subdomain_problem(driver.lower())):
        yield refused((*path, "driver"), f"is {driver}, which {fault}", f"write the driver's name: {_WHO}")


def device_class(data: Data) -> Iterator[Problem]:
    """Source: `validateDeviceClassSpec` (Kubernetes v1.36)."""
    yield from _selectors(lookup(data, ("spec", "selectors")), ("spec", "selectors"))
    yield from configurations(lookup(data, ("spec", "config")), ("spec", "config"))
    resource = name_of(mapping(data.get("spec")), "extendedResourceName")
    if resource and not is_extended(resource):
        what = f"is {resource}, no name of an extended resource"
        advice = "write one with a domain of its own, such as example.com/gpu"
        yield refused(("spec", "extendedResourceName"), what, f"{advice}: {_WHO}")


def configurations(listed: object, path: Path) -> Iterator[Problem]:
    for position, each in numbered(listed):
        if each.get("opaque") is None:
            what = "has no opaque"
            advice = f"write opaque with driver and parameters: {_WHO}"
            yield refused((*path, position), what, advice, kind=INCONSISTENT)
        opaque = mapping(each.get("opaque"))
        yield from _driver(opaque, (*path, position, "opaque"))
        yield from parameters(opaque, (*path, position, "opaque"))


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ATTRIBUTES = ("matchAttribute", "distinctAttribute")


def _constraints(listed: object, path: Path) -> Iterator[Problem]:
    for position, constraint in numbered(listed):
        yield from alternatives(constraint, (*path, position), _ATTRIBUTES, _WHO, needed=True)
        for field in _ATTRIBUTES:
            name = name_of(constraint, field)
            if name and "/" not in name:
                where = (*path, position, field)
                advice = "write it with the domain of its driver, as in resource.kubernetes.io/pcieRoot"
                yield refused(where, f"is {name}, without a domain", f"{advice}: {_WHO}")
            elif name and not _IDENTIFIER.match(name.partition("/")[2]):
                where = (*path, position, field)
                advice = "after the domain write letters, digits and '_' only, beginning with no digit"
                yield refused(where, f"is {name}, the name of no attribute", f"{advice}: {_WHO}")


def _of_requests(data: Data, base: Path, names: set[str]) -> Iterator[Problem]:
    """Constraints and configurations name requests of the same claim."""
    for field in ("constraints", "config"):
        for position, each in numbered(lookup(data, (*base, field))):
            for number, name in words(each.get("requests")):
                if name not in names:
                    yield refused(
                        (*base, field, position, "requests", number),
                        f"is {name}, which is not a request of the claim",
                        f"the requests are {some(sorted(names))}",
                        kind=INCONSISTENT,
                    )


_ALLOCATIONS = ("ExactCount", "All")
