"""Karpenter's NodePools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policykit.kube.placeholders import is_filled_in
from policykit.kube.structure.admission.checks import Data, mappings, name_of, refused
from policykit.kube.structure.problem import INCONSISTENT
from policykit.manifests.path import Path, lookup
from policykit.manifests.problem import Problem
from policykit.manifests.shape import digits, mapping, whole

_WHO = "the API server refuses it"
_TEMPLATE: Path = ("spec", "template")
_CLASS: Path = (*_TEMPLATE, "spec", "nodeClassRef")
_OWN = "karpenter.sh"
_ALLOWED = ("karpenter.sh/capacity-type", "karpenter.sh/nodepool")
_HOST, _POOL = "kubernetes.io/hostname", "karpenter.sh/nodepool"
_COMPARED = ("Gt", "Lt", "Gte", "Lte")


def node_pool(data: Data) -> Iterator[Problem]:
    """Source: the rules of the CRD NodePool (v0.32 to 1.14)."""
    for position, wanted in mappings(lookup(data, (*_TEMPLATE, "spec", "requirements"))):
        yield from _requirement(wanted, (*_TEMPLATE, "spec", "requirements", position))
    labels: Path = (*_TEMPLATE, "metadata", "labels")
    for name in mapping(lookup(data, labels)):
        if isinstance(name, str) and (_restricted(name) or name in (_HOST, _POOL)):
            advice = f"delete it, or use a domain of your own: {_WHO}"
            yield refused((*labels, name), "is a label that Karpenter sets itself", advice, key=True)
    reference = lookup(data, _CLASS)
    for field in ("group", "kind", "name") if isinstance(reference, dict) else ():
        if mapping(reference).get(field) == "":
            yield refused((*_CLASS, field), "is empty", f"name the class of nodes: {_WHO}")
    budgets: Path = ("spec", "disruption", "budgets")
    for position, budget in mappings(lookup(data, budgets)):
        there = [field for field in ("schedule", "duration") if budget.get(field) is not None]
        if len(there) == 1:
            other = "duration" if there == ["schedule"] else "schedule"
            what = f"needs {other} beside it"
            where = (*budgets, position, there[0])
            yield refused(where, what, f"add {other}: {_WHO}", key=True, kind=INCONSISTENT)
    yield from _static(mapping(data.get("spec")))
    yield from _times(data)


_TIME = re.compile(r"(?:[0-9]+[smh])+|Never$")
_TIMES: tuple[Path, ...] = (
    ("spec", "disruption", "consolidateAfter"),
    ("spec", "disruption", "expireAfter"),
    (*_TEMPLATE, "spec", "expireAfter"),
    (*_TEMPLATE, "spec", "terminationGracePeriod"),
)


def _times(data: Data) -> Iterator[Problem]:
    """Patterns of several releases, all of which want it to begin with a number of one of the units."""
    for path in _TIMES:
        value = lookup(data, path)
        if isinstance(value, str) and not is_filled_in(value) and not _TIME.match(value):
            days = digits(value[:-1]) if value.endswith("d") else None
            advice = f"write {days * 24}h" if days else "write hours, minutes or seconds: 720h"
            yield refused(path, f"is {value}, no time that it reads", f"{advice}: {_WHO}")


def _restricted(name: str) -> bool:
    """Labels of Karpenter's own domain, of which only two may be stated."""
    return name.partition("/")[0].endswith(_OWN) and "/" in name and name not in _ALLOWED


def _requirement(wanted: Data, path: Path) -> Iterator[Problem]:
    key, operator = name_of(wanted, "key"), wanted.get("operator")
    if key and (_restricted(key) or key in (_HOST, _POOL)):
        advice = f"delete the requirement: {_WHO}"
        yield refused((*path, "key"), f"is {key}, which Karpenter sets itself", advice)
    listed = wanted.get("values")
    values = listed if isinstance(listed, list) else []
    least = whole(wanted.get("minValues"))
    if operator == "In" and not values and (listed is None or listed == []):
        says = "is an empty list" if "values" in wanted else "has no values"
        where = (*path, "values") if "values" in wanted else path
        yield refused(where, says, f"list the values of In: {_WHO}")
    elif operator == "In" and least is not None and len(values) < least:
        what = f"is {least}, but there {'is 1 value' if len(values) == 1 else f'are {len(values)} values'}"
        yield refused((*path, "minValues"), what, f"list more values, or lower it: {_WHO}")
    elif operator in _COMPARED and values is listed and not _is_one_number(values):
        what = f"is {values[0]}" if len(values) == 1 else f"has {len(values)} values"
        yield refused((*path, "values"), what, f"write one whole number in quotes: {_WHO}")


def _is_one_number(values: list[object]) -> bool:
    """True also where it cannot be known yet."""
    if any(isinstance(each, str) and is_filled_in(each) for each in values):
        return True
    return len(values) == 1 and digits(str(values[0])) is not None


def _static(spec: Data) -> Iterator[Problem]:
    """A pool of a fixed number of nodes (since 1.8)."""
    if spec.get("replicas") is None:
        return
    if spec.get("weight") is not None:
        what = "conflicts with replicas: a static pool takes no pods from others"
        yield refused(("spec", "weight"), what, f"delete one of the two: {_WHO}", key=True)
    for name in mapping(spec.get("limits")):
        if name != "nodes":
            what = "conflicts with replicas: a static pool is limited in nodes"
            yield refused(("spec", "limits", name), what, f"write limits.nodes: {_WHO}", key=True)
            return
