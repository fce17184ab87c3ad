"""Requests and annotations of pods that HAMi refuses, or that no card of its fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_filled_in
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import is_boolean, mapping
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.placement.review import Review

_MODE = "nvidia.com/vgpu-mode"
MODES = ("hami-core", "mig", "mps")
_NUMA = "nvidia.com/numa-bind"
WORDS = ("numa-bind", "dcumem", "dcucores", ".vMem", ".vCore", "Ascend910C")
"""What files with such pods contain, unless they have another word of the rule."""
_SPLIT = "huawei.com/vnpu-mode"
_SOFT = "hami-core"
_PARTS = frozenset({"memory", "core"})
_COUNTED = frozenset({"huawei-hami", "hygon", "iluvatar", "kunlunxin"})
"""Vendors of whose parts HAMi takes none without a card."""
_ASCEND = "huawei-hami"
_OF_TWO = "huawei.com/Ascend910C"


def violations(review: Review) -> Iterator[Violation]:
    """Sources: `checkType` and `assertNuma` of `pkg/device/nvidia`, and `MutateAdmission` of each card's
    package (HAMi 2.6 to 2.10)."""
    yield from _modes(review)
    for field, position, container in containers(review.pod_set.spec):
        asked = requested(container)
        limits = mapping(mapping(container.get("resources")).get("limits"))
        for name, amount in asked.items():
            side = "limits" if name in limits else "requests"
            where = review.pod_set.place(field, position, "resources", side, name)
            yield from _alone(name, asked, where)
            yield from _of_ascend(review, name, amount, where)


def _modes(review: Review) -> Iterator[Violation]:
    annotations = review.pod_set.annotations
    mode = annotations.get(_MODE, "")
    if mode and not is_filled_in(mode) and not any(each in mode for each in MODES):
        near = nearest(mode.lower(), MODES)
        yield Violation(
            review.pod_set.place("annotations", _MODE),
            f"{_MODE} is {mode}, and HAMi has no card in such a mode: the pod stays pending",
            f"did you mean {near}?" if near else f"write one of {', '.join(MODES)}, or delete it",
            Severity.WARNING,
        )
    bound = annotations.get(_NUMA, "")
    if bound and not is_boolean(bound) and not is_filled_in(bound):
        yield Violation(
            review.pod_set.place("annotations", _NUMA),
            f"{_NUMA} is {bound}, which HAMi reads as false",
            'write "true"',
            Severity.WARNING,
        )


def _alone(name: str, asked: Mapping[str, int], where: Path) -> Iterator[Violation]:
    """Parts of cards without a card: the webhook leaves the pod to kube-scheduler."""
    known = resource(name)
    if known is None or known.role not in _PARTS or known.vendor not in _COUNTED or not asked[name]:
        return
    if known.when != "HAMi" and known.vendor != _ASCEND:
        return
    maker = known.vendor.partition("-")[0]
    for each in asked:
        other = resource(each)
        if other and other.is_card and other.role not in _PARTS and other.vendor.startswith(maker):
            return
    yield Violation(
        where,
        f"requests {name} without a card: HAMi leaves the pod alone, and no other scheduler finds a node",
        "request the card beside it",
        Severity.WARNING,
        key=True,
    )


def _of_ascend(review: Review, name: str, amount: int, where: Path) -> Iterator[Violation]:
    known = resource(name)
    if known is None or known.vendor != _ASCEND:
        return
    mode = review.pod_set.annotations.get(_SPLIT, "")
    if known.role == "core" and amount > 0 and mode != _SOFT and not is_filled_in(mode):
        yield Violation(
            where,
            f"requests {name}, which HAMi takes only with the annotation {_SPLIT}: {_SOFT}",
            "add the annotation to the pod, or request memory, which decides the cores",
            Severity.WARNING,
            key=True,
        )
    if name == _OF_TWO and amount > 1 and amount % 2:
        yield Violation(
            where,
            f"requests {amount} {name}, but HAMi gives 1 or an even number on a SuperPod",
            f"request {amount + 1}",
            Severity.WARNING,
        )
