"""Requests and annotations of pods that HAMi refuses, or that no card of its fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.catalogue.cards import Vendor, vendor
from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_filled_in
from policykit.kube.requests import containers, requested
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import is_boolean, mapping
from policykit.model.severity import Severity
from policykit.model.shared_cards import HAMI_MODE
from policykit.nearest import nearest
from policykit.placement.review import Review

MODES = ("hami-core", "mig", "mps")
_NUMA = "nvidia.com/numa-bind"
WORDS = (
    "numa-bind",
    "dcumem",
    "dcucores",
    ".vMem",
    ".vCore",
    "Ascend910C",
    "use-mlutype",
    "use-dcutype",
    "use-neuron-uuid",
    "use-va",
    "use-biren",
)
"""What files with such pods contain, unless they have another word of the rule."""
_SPLIT = "huawei.com/vnpu-mode"
_SOFT = "hami-core"
_PARTS = frozenset({"memory", "core"})
_NVIDIA = "nvidia.com"
_OF_AMD, _CORES_OF_AMD = "amd.com/gpu", "amd.com/gpucores"
_COUNTED = frozenset({"huawei-hami", "hygon", "iluvatar", "kunlunxin"})
"""Vendors of whose parts HAMi takes none without a card."""
_ASCEND = "huawei-hami"
_OF_TWO = "huawei.com/Ascend910C"
_CHOOSES = re.compile(r"(no-?)?use-|vgpu-mode$|numa-bind$")
"""How the names of annotations go on that choose among cards."""
_CHOSEN_BY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "nvidia": ("nvidia.com", ("gpuuuid", "gputype")),
    "amd": ("amd.com", ("gpu-uuid", "gputype")),
    "aws-neuron": ("aws.amazon.com", ("neuron-uuid",)),
    "biren": ("birentech.com", ("gpuuuid", "biren")),
    "cambricon": ("cambricon.com", ("gpuuuid", "mlutype")),
    "enflame": ("enflame.com", ("gpuuuid",)),
    "hygon": ("hygon.com", ("gpuuuid", "dcutype")),
    "kunlunxin": ("hami.io", ("xpu-uuid",)),
    "metax": ("metax-tech.com", ("gpuuuid",)),
    "mthreads": ("mthreads.ai", ("gpuuuid",)),
    "vastai": ("vastaitech.com", ("gpuuuid", "va")),
}
"""Maker of cards: the domain of the annotations that choose among them, and what follows `use-` or `nouse-`;
the first names cards."""
_BY_UUID = {maker: f"{domain}/use-{names[0]}" for maker, (domain, names) in _CHOSEN_BY.items()}
_MAKERS = {domain: maker for maker, (domain, _) in _CHOSEN_BY.items() if maker != "kunlunxin"}
_MAKERS["baidu.com"] = "kunlunxin"
_WEIGHTS = "hami.io/device-scoring-weights"
_WEIGHED = frozenset({"slot", "core", "memory"})
_WEIGHT = re.compile(r"\+?\d+")
_DECIDED = re.compile(
    r"hami\.io/(?:vgpu-time|vgpu-node|bind-time|bind-phase|vgpu-mig-allocations"
    r"|[\w-]+-devices-(?:to-allocate|allocated))"
)
"""Annotations that say which cards a pod has."""


def violations(review: Review) -> Iterator[Violation]:
    """Sources: `checkType` and `assertNuma` of `pkg/device/nvidia`, `MutateAdmission` and the annotations of
    each card's package, and `pkg/util/types.go` (HAMi 2.6 to 2.10)."""
    yield from _modes(review)
    yield from _weights(review)
    yield from _of_another_maker(review)
    yield from _decided(review)
    for field, position, container in containers(review.pod_set.spec):
        asked = requested(container)
        limits = mapping(mapping(container.get("resources")).get("limits"))
        for name, amount in asked.items():
            side = "limits" if name in limits else "requests"
            where = review.pod_set.place(field, position, "resources", side, name)
            yield from _alone(name, asked, where)
            yield from _of_amd(name, asked, where)
            yield from _of_ascend(review, name, amount, where)


def _modes(review: Review) -> Iterator[Violation]:
    annotations = review.pod_set.annotations
    mode = annotations.get(HAMI_MODE, "")
    if mode and not is_filled_in(mode) and not any(each in mode for each in MODES):
        near = nearest(mode.lower(), MODES)
        yield Violation(
            review.pod_set.place("annotations", HAMI_MODE),
            f"{HAMI_MODE} is {mode}, and HAMi has no card in such a mode: the pod stays pending",
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


def _weights(review: Review) -> Iterator[Violation]:
    """Source: `ParseDeviceScoringWeights` of HAMi (2.10)."""
    stated = review.pod_set.annotations.get(_WEIGHTS, "")
    if not stated or is_filled_in(stated):
        return
    parts = [tuple(map(str.strip, each.partition("="))) for each in stated.split(",")]
    weights = {key: value for key, _, value in parts}
    known = len(parts) == len(_WEIGHED) and weights.keys() == _WEIGHED
    numbers = all(_WEIGHT.fullmatch(each) for each in weights.values())
    if not (known and numbers and any(map(int, weights.values()))):
        yield Violation(
            review.pod_set.place("annotations", _WEIGHTS),
            f"{_WEIGHTS} is {stated}, which HAMi 2.10 cannot read: the pod stays pending, and newer releases "
            "refuse it",
            "write all three, as slot=1,core=1,memory=1; one of them at least is above 0",
            Severity.WARNING,
        )


def _of_another_maker(review: Review) -> Iterator[Violation]:
    """Annotations that choose among cards which the pod does not request, or that HAMi does not read."""
    makers = {name: known.hardware for name in review.requests if (known := _maker(name)) is not None}
    for key in review.pod_set.annotations if makers else ():
        domain, _, name = key.partition("/")
        maker, chooses = _MAKERS.get(domain, ""), _CHOOSES.match(name)
        if maker and chooses and maker in makers.values():
            yield from _unread(review, key, domain, chooses, _CHOSEN_BY[maker])
        elif maker and chooses and all(makers.values()):
            asked, other = next(iter(makers.items()))
            yield Violation(
                review.pod_set.place("annotations", key),
                f"{key} is read for cards of {domain}, but the pod requests {asked}: it has no effect",
                f"write {_BY_UUID[other]}, or delete it" if other in _BY_UUID else "delete it",
                Severity.WARNING,
                key=True,
            )


def _unread(
    review: Review, key: str, domain: str, chooses: re.Match[str], read: tuple[str, tuple[str, ...]]
) -> Iterator[Violation]:
    """A name of no annotation in the domain; those of NVIDIA's cards are judged with other misspelt ones."""
    written = chooses.string[chooses.end() :]
    if not written or domain in (_NVIDIA, "baidu.com"):
        return
    if written in read[1] and chooses[1] in (None, "no"):
        return
    meant = f"{domain}/{'nouse' if chooses[1] else 'use'}-{nearest(written, read[1]) or read[1][0]}"
    yield Violation(
        review.pod_set.place("annotations", key),
        f"HAMi does not read annotation {key}: it has no effect",
        f"did you mean {meant}?",
        Severity.WARNING,
        key=True,
    )


def _maker(name: str) -> Vendor | None:
    """Of the cards that a resource belongs to."""
    known = resource(name)
    return vendor(known.vendor) if known and known.is_card else None


def _decided(review: Review) -> Iterator[Violation]:
    """What HAMi writes into a pod; one exported from a cluster has it too.

    Source: `onAddPod` in pkg/scheduler, `GetPendingPod` in pkg/util (2.6 to 2.10).
    """
    pod_set, data = review.pod_set, review.manifest.data
    if pod_set.spec.get("nodeName") or data.get("status") or review.manifest.metadata.get("uid"):
        return
    key = next(filter(_DECIDED.fullmatch, pod_set.annotations), "")
    if key:
        yield Violation(
            pod_set.place("annotations", key),
            f"{key} records what HAMi decided about the cards of the pod: HAMi up to 2.10 takes it unchecked "
            "for its own decision, and newer releases refuse the pod",
            "delete it; HAMi's scheduler writes it",
            Severity.WARNING,
            key=True,
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


def _of_amd(name: str, asked: Mapping[str, int], where: Path) -> Iterator[Violation]:
    """Source: `MutateAdmission` of `pkg/device/amd` (2.10)."""
    if name == _CORES_OF_AMD and _OF_AMD in asked and not 1 <= asked[name] <= _HUNDRED:
        yield Violation(
            where,
            f"{name} is {asked[name]}, but HAMi takes 1 to {_HUNDRED} percent: its webhook refuses the pod",
            "delete it for all cores of the card" if asked[name] < 1 else f"write {_HUNDRED}",
            Severity.WARNING,
        )


_HUNDRED = 100


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
