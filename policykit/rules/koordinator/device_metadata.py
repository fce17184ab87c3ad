"""Labels, annotations and resource names of pods that request devices from Koordinator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.shape import mapping, texts
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.rules.koordinator import pod_annotations
from policykit.rules.koordinator.device_requests import FPGA, GPU, RATIO, RDMA, SHARED, Request
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import KEYS, OLD_RESOURCES, SYSTEM
from policykit.targets.koordinator.scheduler.plugins import PLUGINS

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_PREFIX = "scheduling.koordinator.sh/"
_ISOLATION = "koordinator.sh/gpu-isolation-provider"
_HAMI = "HAMi-core"
_RESERVE_POD = f"{_PREFIX}reserve-pod"
_ALLOCATED = (f"{_PREFIX}device-allocated", f"{_PREFIX}resource-status")
_COUNTABLE = {"rdma": RDMA, "fpga": FPGA}
_PARTITION_SIZES = (1, 2, 4, 8)
"""Cards per partition in the built-in partition tables (H100, H800, H20)."""


def counted(pod_set: PodSet) -> frozenset[str]:
    """Resources whose amount is a number of devices, because the allocate hint says so."""
    hint = pod_annotations.read(pod_set, pod_annotations.HINT)
    return frozenset(
        name
        for kind, name in _COUNTABLE.items()
        if mapping(hint.get(kind)).get("allocateStrategy") == "RequestsAsCount"
    )


def check(review: Review, requests: Mapping[str, Request], cluster: Cluster | None) -> Iterator[Violation]:
    """Everything except the amounts."""
    pod_set = review.pod_set
    yield from _isolation(pod_set)
    yield from _old_names(requests)
    yield from _joint(pod_set, requests)
    yield from _partition(pod_set, requests)
    yield from _written_by_koordinator(review)
    yield from _overhead(pod_set, cluster)


def other_scheduler(pod_set: PodSet, requests: Mapping[str, Request]) -> Iterator[Violation]:
    """Koordinator devices on a pod that another scheduler places; its metadata is checked by PK122."""
    carried = {*pod_set.labels, *pod_set.annotations}
    if any(key.key in carried for key in KEYS):
        return
    for name, each in requests.items():
        if name.startswith("koordinator.sh/"):
            yield Violation(
                each.path,
                f"only koord-scheduler allocates {name}, but schedulerName is {pod_set.scheduler_name}: "
                "the pod gets no device",
                "write schedulerName: koord-scheduler, or request whole cards by their own resource name",
                Severity.WARNING,
                key=True,
            )
            return


def _isolation(pod_set: PodSet) -> Iterator[Violation]:
    value = pod_set.labels.get(_ISOLATION)
    if not value and _ISOLATION in pod_set.annotations:
        yield Violation(
            pod_set.place("annotations", _ISOLATION),
            f"{_ISOLATION} is an annotation here, but Koordinator reads it as a label",
            "move it to the labels",
            key=True,
        )
    if value and value != _HAMI and not is_placeholder(value):
        yield Violation(
            pod_set.place("labels", _ISOLATION),
            f"{_ISOLATION} is {value}, but {_HAMI} is the only provider",
            f"write {_HAMI}",
        )


def _old_names(requests: Mapping[str, Request]) -> Iterator[Violation]:
    for name, new in OLD_RESOURCES.items():
        if name in requests:
            yield Violation(
                requests[name].path,
                f"{name} is the old name of {new}, which only koord-scheduler still translates",
                f"write {new}",
                Severity.WARNING,
                key=True,
            )


def _joint(pod_set: PodSet, requests: Mapping[str, Request]) -> Iterator[Violation]:
    types = texts(pod_annotations.read(pod_set, pod_annotations.JOINT).get("deviceTypes"))
    for position, kind in enumerate(types):
        requested = any(kind in name.partition("/")[2] for name in requests)
        if kind in ("gpu", "rdma", "fpga") and not requested and not (kind == "gpu" and _npu(requests)):
            yield Violation(
                pod_set.place("annotations", pod_annotations.JOINT),
                f"deviceTypes names {kind}, but the pod requests none: it is ignored",
                f"request koordinator.sh/{kind} too, or remove it from deviceTypes",
                Severity.WARNING,
                inside=("deviceTypes", position),
            )


def _partition(pod_set: PodSet, requests: Mapping[str, Request]) -> Iterator[Violation]:
    if pod_annotations.PARTITION not in pod_set.annotations:
        return
    path = pod_set.place("annotations", pod_annotations.PARTITION)
    cards = _cards(requests)
    if SHARED in requests or cards == 0:
        yield Violation(
            path,
            f"{pod_annotations.PARTITION} applies to whole cards, but the pod requests part of one: "
            "it is ignored",
            "delete it, or request whole cards",
            Severity.WARNING,
            key=True,
        )
    elif cards is not None and cards < 8 and cards not in _PARTITION_SIZES:
        yield Violation(
            path,
            f"{pod_annotations.PARTITION} with {cards} cards: the built-in partitions have 1, 2, 4 or 8",
            "request 1, 2, 4 or 8 cards, or define your own partition tables on the Devices",
            Severity.WARNING,
            key=True,
        )


def _written_by_koordinator(review: Review) -> Iterator[Violation]:
    """What users must not set; a pod exported from a cluster may carry it."""
    pod_set, data = review.pod_set, review.manifest.data
    if pod_set.spec.get("nodeName") or data.get("status") or review.manifest.metadata.get("uid"):
        return
    if _RESERVE_POD in pod_set.annotations:
        yield Violation(
            pod_set.place("annotations", _RESERVE_POD),
            f"{_RESERVE_POD} is internal to Koordinator, which refuses pods that set it",
            "delete it; to reserve resources, create a Reservation",
            key=True,
        )
    for name in _ALLOCATED:
        if name in pod_set.annotations:
            yield Violation(
                pod_set.place("annotations", name),
                f"{name} records what koord-scheduler allocated, so the pod seems to have its devices or "
                "CPUs",
                "delete it; koord-scheduler writes it",
                Severity.WARNING,
                key=True,
            )


def _overhead(pod_set: PodSet, cluster: Cluster | None) -> Iterator[Violation]:
    """Where the policy packs cards with NodeResourcesFitPlus."""
    target = cluster.targets.get(SYSTEM) if cluster else None
    if cluster is None or target is None or not pod_set.spec.get("overhead"):
        return
    packs = any(pool.card for pool in cluster.pools)
    if packs and versions.possible_versions(cluster)[-1] >= PLUGINS["NodeResourcesFitPlus"]:
        yield Violation(
            pod_set.place("overhead"),
            "the pod sets overhead, which can crash NodeResourcesFitPlus of Koordinator",
            "use a RuntimeClass without overhead",
            Severity.WARNING,
            key=True,
        )


def _npu(requests: Mapping[str, Request]) -> bool:
    return any(name.startswith("huawei.com/") for name in requests)


def _cards(requests: Mapping[str, Request]) -> int | None:
    """Whole cards requested; 0: part of one; None: unknown."""
    for name, per in (("nvidia.com/gpu", 1), ("amd.com/gpu", 1), (GPU, 100), (RATIO, 100)):
        number = requests[name].amount if name in requests else None
        if number is not None:
            return number // per
    return None
