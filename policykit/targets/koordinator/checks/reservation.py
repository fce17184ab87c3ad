"""What keeps a Reservation from reserving."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.kube import structure
from policykit.kube.structure.problem import INVALID_LABEL, INVALID_QUANTITY, UNKNOWN_FIELD, WRONG_TYPE
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
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
_NAMESPACE = ("template", "namespace")
"""It is default where the metadata of the template say nothing."""
_OF_PODS = (("template", "apiVersion"), ("template", "kind"))
"""A pod that was copied whole has them, and nobody misses them."""


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
    """The API server keeps any template: what is no field of one is lost when it is read."""
    own: set[Path] = set()
    for where in ((), ("spec",)):
        given = mapping(lookup(template, where)) if where else template
        for field in _OWN:
            if field in given:
                own.add(("template", *where, field))
                yield _lost(("template", *where, field), f"move it to spec.{field} of the Reservation")
    whole = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "own"}, "template": template}
    for problem in structure.check(whole, "v1", "PodTemplate"):
        if problem.path in _OF_PODS:
            continue
        if problem.kind == UNKNOWN_FIELD and problem.path not in own:
            harmless = problem.path == _NAMESPACE and template["namespace"] == "default"
            advice = f"move it to {dotted(problem.meant)}" if problem.meant else problem.help
            yield _lost(problem.path, advice, Severity.WARNING if harmless else None)
        elif problem.kind in (WRONG_TYPE, INVALID_QUANTITY) or _is_mistyped_label(problem, whole):
            message = f"{problem.message}: koord-scheduler cannot read the Reservation"
            yield Violation(("spec", *problem.path), message, problem.help, key=problem.key)


def _is_mistyped_label(problem: structure.Problem, whole: Mapping[str, Any]) -> bool:
    """Numbers are no labels. The syntax of a label that is text is looked at by nobody here."""
    return problem.kind == INVALID_LABEL and not isinstance(lookup(whole, problem.path), str)


def _lost(path: Path, advice: str, severity: Severity | None = None) -> Violation:
    """`path` below spec."""
    return Violation(("spec", *path), f"{dotted(path)} is kept but never read", advice, severity, key=True)


def _owners(spec: Mapping[str, Any]) -> Iterator[Violation]:
    owners = spec.get("owners")
    for position, owner in enumerate(owners if isinstance(owners, list) else ()):
        if isinstance(owner, Mapping) and not any(value is not None for value in owner.values()):
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
    if is_placeholder(name) or not pod or "schedulerName" in template:
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
