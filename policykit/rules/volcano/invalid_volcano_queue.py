"""Volcano rejects a queue.

What is guaranteed must be deserved as well, and amounts of cards and pods must be whole and not
negative. PK406 reports amounts that contradict each other, PK403 to PK405 trees of queues.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.names import is_extended
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, pairs, text, whole
from policykit.model.quantity import parse
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.volcano import versions
from policykit.targets.volcano.names import GROUP_APIS
from policykit.targets.volcano.objects.queues import HIERARCHY, HIERARCHY_WEIGHTS
from policykit.targets.volcano.versions import release_text

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  weight: 1
  guarantee:
    resource: {cpu: "64", nvidia.com/gpu: "8"}
  deserved: {cpu: "64"}
"""

GOOD = BAD.replace('deserved: {cpu: "64"}', 'deserved: {cpu: "64", nvidia.com/gpu: "8"}')

_GUARANTEE: Path = ("spec", "guarantee", "resource")
_LISTS: tuple[Path, ...] = (_GUARANTEE, ("spec", "deserved"), ("spec", "capability"))
_MAX_WEIGHT = 65535


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `webhooks/admission/queues/validate/validate_queue.go` (1.8 to 1.15)."""
    if manifest.group not in GROUP_APIS:
        return
    have = versions.release_of(context.cluster)
    yield from _amounts(manifest, have)
    yield from _weight(manifest, have)
    yield from _priority(manifest, have)
    if not manifest.partial:
        yield from _undeserved(manifest, have)
        if have and versions.WHOLE_LISTS[0] <= have <= versions.WHOLE_LISTS[1]:
            yield from _unlimited(manifest, have)
    yield from _hierarchy(manifest)
    state = lookup(manifest.data, ("status", "state"))
    if isinstance(state, str) and state not in ("", "Open", "Closed") and not is_placeholder(state):
        yield Violation(("status", "state"), f"state is {state!r}, neither Open nor Closed", "remove status")
    if manifest.name == "root" and any(mapping(lookup(manifest.data, path)) for path in _LISTS):
        yield Violation(
            ("metadata", "name"),
            "queue root belongs to Volcano: its amounts cannot be changed",
            "set them on the queues below it",
            Severity.WARNING,
        )


def _amounts(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    certain = have is not None and have >= versions.AMOUNTS_CHECKED
    severity = None if certain else Severity.WARNING
    which = "" if certain else f": Volcano {_minor(versions.AMOUNTS_CHECKED)} on refuses the queue"
    for path in _LISTS:
        for resource, written in mapping(lookup(manifest.data, path)).items():
            quantity = parse(written) if isinstance(resource, str) else None
            if quantity is None:
                continue
            what = f"{dotted(path[1:])}.{resource}"
            if quantity.nanos < 0:
                message = f"{what} is {written}, below 0{which}"
                yield Violation((*path, resource), message, "write 0 or more", severity)
            elif (resource == "pods" or is_extended(resource)) and not quantity.whole:
                message = f"{what} is {written}, not a whole number{which}"
                yield Violation((*path, resource), message, "write a whole number", severity)


def _weight(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """The webhook writes 1 for 0, and older releases take larger ones."""
    weight = whole(lookup(manifest.data, ("spec", "weight")))
    if weight == 0:
        yield Violation(
            ("spec", "weight"),
            "weight is 0, of which Volcano's webhook makes 1: the queue has a share like others",
            "set capability to limit what it may use, or delete weight",
            Severity.WARNING,
        )
    if weight is None or 0 <= weight <= _MAX_WEIGHT:
        return
    older = weight > 0 and have is not None and have < versions.WEIGHTS_BOUNDED
    if not older:
        yield Violation(
            ("spec", "weight"),
            f"weight is {weight}, outside 1 to {_MAX_WEIGHT}",
            "only the ratio to the weights of other queues counts: write a "
            + ("smaller number" if weight > 0 else "number of at least 1"),
            Severity.WARNING if weight > 0 and have is None else None,
        )


def _priority(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """Source: the CRD (1.14)."""
    priority = whole(lookup(manifest.data, ("spec", "priority")))
    if priority is not None and priority < 0 and (have is None or have >= versions.PRIORITY_BOUNDED):
        which = "" if have else f": Volcano {_minor(versions.PRIORITY_BOUNDED)} on refuses the queue"
        message = f"priority is {priority}, below 0{which}"
        yield Violation(("spec", "priority"), message, "write 0 or more", None if have else Severity.WARNING)


def _undeserved(manifest: Manifest, have: Version | None) -> Iterator[Violation]:
    """Since 1.13 where anything is deserved, since 1.14 in any case."""
    deserved = mapping(lookup(manifest.data, ("spec", "deserved")))
    since = versions.AMOUNTS_COMPARED if deserved else versions.AMOUNTS_CHECKED
    if have and have < since:
        return
    which = "" if have else f": Volcano {_minor(since)} on refuses the queue"
    for resource, written in mapping(lookup(manifest.data, _GUARANTEE)).items():
        quantity = parse(written)
        if resource not in deserved and quantity is not None and quantity.nanos >= 0:
            yield Violation(
                (*_GUARANTEE, resource),
                f"queue {manifest.name} guarantees {resource} {written}, but deserved does not list it"
                f"{which}",
                f"add {resource} to spec.deserved, {written} or more",
                None if have else Severity.WARNING,
                key=True,
            )


def _minor(version: Version) -> str:
    return release_text(version[:2])


def _unlimited(manifest: Manifest, have: Version) -> Iterator[Violation]:
    limits = mapping(lookup(manifest.data, ("spec", "capability")))
    for resource, written in mapping(lookup(manifest.data, ("spec", "deserved"))).items():
        quantity = parse(written)
        if limits and resource not in limits and quantity is not None and quantity.nanos > 0:
            yield Violation(
                ("spec", "deserved", resource),
                f"queue {manifest.name} deserves {resource} {written}, but capability does not list it: "
                f"Volcano {release_text(have)} takes it as 0",
                f"add {resource} to spec.capability",
                key=True,
            )


def _hierarchy(manifest: Manifest) -> Iterator[Violation]:
    """Path and weights of plugin drf's tree."""
    annotations = pairs(manifest.metadata.get("annotations"))
    path, weights = text(annotations.get(HIERARCHY)), text(annotations.get(HIERARCHY_WEIGHTS))
    if not (path or weights) or is_placeholder(path) or is_placeholder(weights):
        return
    place: Path = ("metadata", "annotations")
    steps, numbers = path.split("/"), weights.split("/")
    if not weights or len(steps) != len(numbers):
        yield Violation(
            (*place, HIERARCHY_WEIGHTS if weights else HIERARCHY),
            f"path {path!r} has {len(steps)} steps, but there are {len(numbers) if weights else 0} weights",
            f"write as many weights in {HIERARCHY_WEIGHTS}, separated by /",
        )
        return
    for number in numbers:
        if not _positive(number):
            yield Violation(
                (*place, HIERARCHY_WEIGHTS),
                f"weight {number!r} is not a number above 0",
                "write a number above 0",
            )


def _positive(number: str) -> bool:
    try:
        return float(number) > 0
    except ValueError:
        return False


RULE = Rule(
    code="PK511",
    name="invalid-volcano-queue",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Queue"}),
)
