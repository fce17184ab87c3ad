"""What keeps a Reservation from reserving."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.targets.koordinator.names import SYSTEM
from policykit.targets.koordinator.objects import durations

_TEMPLATE = ("spec", "template")
_OWN = (
    *("owners", "ttl", "expires", "allocateOnce", "allocatePolicy", "preAllocation", "preAllocationPolicy"),
    "unschedulable",
)
"""Fields of the Reservation's own spec, which a pod has not."""
_OF_METADATA = ("namespace", "labels", "annotations", "name")
_OF_POD = (
    "schedulerName",
    "containers",
    "nodeSelector",
    "affinity",
    "tolerations",
    "priorityClassName",
    "nodeName",
)
_OWNER = ("object", "controller", "labelSelector")


def faults(manifest: Manifest, system_of: Callable[[str], str | None]) -> Iterator[Violation]:
    """`system_of` says which system serves a schedulerName; None: nobody knows."""
    spec = mapping(manifest.data.get("spec"))
    template = mapping(spec.get("template"))
    yield from _misplaced(template)
    yield from _owners(spec)
    yield from _expiry(spec)
    if not manifest.partial and template:
        yield from _scheduler(template, system_of)


def _misplaced(template: Mapping[str, Any]) -> Iterator[Violation]:
    for field in _OF_METADATA:
        if field in template:
            yield _lost((*_TEMPLATE, field), f"template.{field}", f"template.metadata.{field}")
    for field in _OF_POD:
        if field in template:
            yield _lost((*_TEMPLATE, field), f"template.{field}", f"template.spec.{field}")
    for where in ((), ("spec",)):
        given = mapping(lookup(template, where)) if where else template
        for field in _OWN:
            if field in given:
                name = ".".join(("template", *where, field))
                yield _lost((*_TEMPLATE, *where, field), name, f"spec.{field} of the Reservation")


def _lost(path: tuple[str, ...], written: str, right: str) -> Violation:
    return Violation(path, f"{written} is kept but never read", f"move it to {right}", key=True)


def _owners(spec: Mapping[str, Any]) -> Iterator[Violation]:
    owners = spec.get("owners")
    for position, owner in enumerate(owners if isinstance(owners, list) else ()):
        if isinstance(owner, Mapping) and all(owner.get(part) is None for part in _OWNER):
            yield Violation(
                ("spec", "owners", position),
                "the owner has none of object, controller and labelSelector: it is refused",
                "write one of them; labelSelector: {} is every pod",
            )


def _expiry(spec: Mapping[str, Any]) -> Iterator[Violation]:
    ttl, expires = spec.get("ttl"), spec.get("expires")
    if isinstance(ttl, str) and not is_placeholder(ttl) and durations.seconds(ttl) is None:
        yield Violation(
            ("spec", "ttl"),
            f"ttl is {ttl!r}, not a duration of 0 or more with a unit",
            f"write {ttl}s" if ttl.isdecimal() else "write a duration: 24h, 30m",
        )
    if ttl is not None and expires is not None:
        yield Violation(
            ("spec", "ttl"),
            f"ttl is {ttl}, but expires is set too and wins",
            "keep one of the two",
            Severity.WARNING,
            key=True,
        )


def _scheduler(template: Mapping[str, Any], system_of: Callable[[str], str | None]) -> Iterator[Violation]:
    pod = mapping(template.get("spec"))
    name = text(pod.get("schedulerName"))
    if is_placeholder(name) or not pod:
        return
    if not name:
        yield Violation(
            (*_TEMPLATE, "spec"),
            "the template has no schedulerName, so it is for default-scheduler, which makes no reservations",
            "write schedulerName: koord-scheduler in template.spec",
            Severity.WARNING,
            key=True,
        )
    elif system_of(name) not in (SYSTEM, None):
        yield Violation(
            (*_TEMPLATE, "spec", "schedulerName"),
            f"schedulerName is {name}, which is no profile of koord-scheduler: nobody makes the reservation",
            "write schedulerName: koord-scheduler",
        )
