"""Annotations of a namespace that YuniKorn reads: the quota of its own queue, and switches.

Source: shim pkg/common/utils and pkg/cache, release 1.9.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policykit.kube.structure.scalars import is_placeholder
from policykit.model.application import NAMESPACE, PARENT, StaticQueues
from policykit.model.quantity import parse
from policykit.nearest import nearest
from policykit.targets.yunikorn.checks.amiss import never_counted
from policykit.targets.yunikorn.names import NAMESPACE_QUOTA, PARENT_QUEUE

GUARANTEED = "yunikorn.apache.org/namespace.guaranteed"
MAX_APPS = "yunikorn.apache.org/namespace.maxApps"
_SWITCHES = ("yunikorn.apache.org/namespace.enableYuniKorn", "yunikorn.apache.org/namespace.generateAppId")
_OLD = ("yunikorn.apache.org/namespace.max.cpu", "yunikorn.apache.org/namespace.max.memory")
_AMOUNTS = (NAMESPACE_QUOTA, GUARANTEED)
_KNOWN = (*_AMOUNTS, MAX_APPS, PARENT_QUEUE, *_SWITCHES, *_OLD)
_LIKENESS = 0.9
_EXAMPLE = 'write {"cpu": "10", "memory": "64Gi"}: names and amounts of Kubernetes, both in quotes'


class Amiss(NamedTuple):
    """What is wrong with an annotation; `field` as `field` gives it."""

    field: str
    message: str
    help: str


def field(annotation: str, name: str) -> str:
    """Name of the place of an entry in the JSON of an annotation."""
    return f"{annotation}#{name}"


def entries(annotation: str, text: str) -> Mapping[str, object]:
    """The entries of an annotation with amounts; empty for any other, and for what is no JSON object."""
    if annotation not in _AMOUNTS:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def problems(annotations: Mapping[str, str]) -> Iterator[Amiss]:
    """Annotations that are dropped, or that say something else than they look like."""
    for name, text in annotations.items():
        if is_placeholder(text):
            continue
        if name in _AMOUNTS:
            yield from _amounts(name, text)
        elif name == MAX_APPS and not (text.isascii() and text.isdecimal()):
            yield Amiss(name, f"{name} is {text!r}, not a whole number from 0: it is dropped", "correct it")
        elif name in _SWITCHES and text not in ("true", "false"):
            message = f"{name} is {text!r}, which counts as false: only true is true"
            yield Amiss(name, message, "write true or false in small letters")
        elif name in _OLD and NAMESPACE_QUOTA in annotations:
            yield Amiss(name, f"{name} is ignored beside {NAMESPACE_QUOTA}", "delete it")
        elif name not in _KNOWN:
            near = nearest(name, _KNOWN, _LIKENESS)
            if near:
                yield Amiss(name, f"YuniKorn does not read {name}", f"did you mean {near}?")


def _amounts(annotation: str, text: str) -> Iterator[Amiss]:
    found = entries(annotation, text)
    if not found:
        message = f"{annotation} is no JSON object with amounts: it is dropped"
        yield Amiss(annotation, message, _EXAMPLE)
        return
    numbers = {name: value for name, value in found.items() if not isinstance(value, str)}
    for name, value in numbers.items():
        shown = json.dumps(value)
        message = f"{name} is {shown}, not a text: all of {annotation} is dropped"
        advice = f'put it in quotes: "{shown}"' if isinstance(value, (int, float)) else _EXAMPLE
        yield Amiss(field(annotation, name), message, advice)
    amounts = {name: parse(value) for name, value in found.items() if isinstance(value, str)}
    for name, amount in amounts.items():
        if amount is None and not is_placeholder(found[name]):
            message = f"{found[name]!r} is no amount of {name}: all of {annotation} is dropped"
            yield Amiss(field(annotation, name), message, _EXAMPLE)
        elif name == "vcore":
            message = f"vcore {found[name]} is {found[name]} thousandths of a core in an annotation"
            advice = "write cpu: annotations have the names of Kubernetes"
            yield Amiss(field(annotation, name), message, advice)
        elif name != "cpu" and (meant := never_counted(name)):
            message = f"no pod counts as {name}: the amount never applies"
            yield Amiss(field(annotation, name), message, f"write {meant.replace('vcore', 'cpu')}")
    if not numbers and all(amount is not None for amount in amounts.values()):
        yield from _signs(annotation, found)


def _signs(annotation: str, found: Mapping[str, object]) -> Iterator[Amiss]:
    texts = {name: str(text).strip() for name, text in found.items()}
    below = next((name for name, text in texts.items() if text.startswith("-")), "")
    if below:
        message = f"{below} is below zero: all of {annotation} is dropped"
        yield Amiss(field(annotation, below), message, "write amounts of 0 or more")
    elif not any(digit in text for text in texts.values() for digit in "123456789"):
        message = f"{annotation} is all zero, which YuniKorn takes for no quota"
        yield Amiss(annotation, message, "give one resource an amount above zero")


def static_queue(namespace: str, annotations: Mapping[str, str], queues: StaticQueues) -> str:
    """The queue of the configuration that a namespace's pods go to; empty: it has one of its own."""
    given = {NAMESPACE: namespace.replace(".", "_dot_").lower()}
    parent = annotations.get(PARENT_QUEUE, "").lower()
    if parent:
        given[PARENT] = parent.removeprefix("root.")
    for route in queues.routes:
        if any(step in (NAMESPACE, PARENT) and step not in given for step in route.steps):
            continue
        place = ".".join(("root", *(given.get(step, step) for step in route.steps)))
        if place in queues.leaves:
            return place
        if route.create:
            return ""
    return ""


def for_own_queue(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Annotations that only a queue of the namespace's own takes."""
    return tuple(name for name in (*_AMOUNTS, MAX_APPS) if name in annotations)
