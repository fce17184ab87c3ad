"""A Reservation reserves nothing, or something other than it says.

The API server stores its template unchecked, so a misplaced field is silently lost. Only a
profile of koord-scheduler places it, and it needs owners that may use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit import durations
from policykit.kube import structure
from policykit.kube.placeholders import is_placeholder
from policykit.kube.structure.problem import INVALID_LABEL, INVALID_QUANTITY, UNKNOWN_FIELD, WRONG_TYPE
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, text
from policykit.model.severity import Severity
from policykit.targets import target_name_of
from policykit.targets.koordinator.names import TARGET_NAME

BAD = """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata:
  name: train
spec:
  owners:
  - labelSelector:
      matchLabels: {app: train}
  ttl: 1h
  template:
    namespace: ml
    spec:
      schedulerName: koord-scheduler
      containers:
      - name: reserved
        resources:
          requests: {cpu: "4", memory: 8Gi}
"""

GOOD = BAD.replace("    namespace: ml\n", "    metadata:\n      namespace: ml\n")


_TEMPLATE = ("spec", "template")
_OWN = (
    *("owners", "ttl", "expires", "allocateOnce", "allocatePolicy", "preAllocation", "preAllocationPolicy"),
    "unschedulable",
)
"""Fields of the Reservation's own spec, which a pod does not have."""
_NAMESPACE = ("template", "namespace")
"""`default` where the metadata of the template states none."""
_OF_PODS = (("template", "apiVersion"), ("template", "kind"))
"""Left over from a copied pod, and harmless."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: koordinator `pkg/util/reservation/reservation.go` (1.8)."""
    if manifest.group != "scheduling.koordinator.sh":
        return
    spec = mapping(manifest.data.get("spec"))
    template = mapping(spec.get("template"))
    yield from _misplaced(template)
    yield from _owners(spec)
    yield from _expiry(spec)
    if not manifest.partial and template:
        yield from _scheduler(template, context)


def _misplaced(template: Mapping[str, Any]) -> Iterator[Violation]:
    """Fields that the API server stores but koord-scheduler never reads."""
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
            help_ = f"move it to {dotted(problem.intended)}" if problem.intended else problem.help
            yield _lost(problem.path, help_, Severity.WARNING if harmless else None)
        elif problem.kind in (WRONG_TYPE, INVALID_QUANTITY) or _is_mistyped_label(problem, whole):
            message = f"{problem.message}: koord-scheduler cannot read the Reservation"
            yield Violation(("spec", *problem.path), message, problem.help, key=problem.key)


def _is_mistyped_label(problem: structure.Problem, whole: Mapping[str, Any]) -> bool:
    """A label that is not a string. Nobody checks the syntax of one that is."""
    return problem.kind == INVALID_LABEL and not isinstance(lookup(whole, problem.path), str)


def _lost(path: Path, help_: str, severity: Severity | None = None) -> Violation:
    """`path` below spec."""
    return Violation(("spec", *path), f"{dotted(path)} is stored but never read", help_, severity, key=True)


def _owners(spec: Mapping[str, Any]) -> Iterator[Violation]:
    owners = spec.get("owners")
    for position, owner in enumerate(owners if isinstance(owners, list) else ()):
        if isinstance(owner, dict) and not any(value is not None for value in owner.values()):
            yield Violation(
                ("spec", "owners", position),
                "the owner has no object, controller or labelSelector: the Reservation is refused",
                "add one of them; labelSelector: {} selects every pod",
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
            f"ttl is {ttl}, but expires is also set and takes precedence",
            "keep only one of them",
            Severity.WARNING,
            key=True,
        )


def _scheduler(template: Mapping[str, Any], context: Context) -> Iterator[Violation]:
    pod = mapping(template.get("spec"))
    name = text(pod.get("schedulerName"))
    if is_placeholder(name) or not pod or "schedulerName" in template:
        return
    if not name:
        yield Violation(
            (*_TEMPLATE, "spec"),
            "the template has no schedulerName, and default-scheduler makes no reservations",
            "write schedulerName: koord-scheduler in template.spec",
            Severity.WARNING,
            key=True,
        )
    elif target_name_of(name, context.cluster) not in (TARGET_NAME, None):
        yield Violation(
            (*_TEMPLATE, "spec", "schedulerName"),
            f"schedulerName is {name}, which is not a koord-scheduler profile: nothing is reserved",
            "write schedulerName: koord-scheduler",
        )


RULE = Rule(
    code="PK613",
    name="invalid-reservation",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Reservation"}),
)
