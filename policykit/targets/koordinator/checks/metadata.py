"""Labels, annotations and names of resources of pods that ask Koordinator for devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.shape import mapping, texts
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets.koordinator.checks import pod_annotations, releases
from policykit.targets.koordinator.checks.asked import FPGA, GPU, RATIO, RDMA, SHARED, Asked
from policykit.targets.koordinator.names import KEYS, SYSTEM
from policykit.targets.koordinator.scheduler.points import PLUGINS

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_PREFIX = "scheduling.koordinator.sh/"
_ISOLATION = "koordinator.sh/gpu-isolation-provider"
_HAMI = "HAMi-core"
_RESERVE_POD = f"{_PREFIX}reserve-pod"
_WRITTEN_BY_SYSTEM = (f"{_PREFIX}device-allocated", f"{_PREFIX}resource-status")
_OLD_NAMES: Mapping[str, str] = {
    **{
        f"kubernetes.io/{name}": f"koordinator.sh/{name}"
        for name in ("gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "rdma", "fpga")
    },
    "koordinator.sh/batch-cpu": "kubernetes.io/batch-cpu",
    "koordinator.sh/batch-memory": "kubernetes.io/batch-memory",
}
_TYPES: Mapping[str, tuple[str, ...]] = {"rdma": (RDMA,), "fpga": (FPGA,)}
_PARTITIONED = (1, 2, 4, 8)
"""Cards that the built-in tables of partitions know (H100, H800, H20)."""


def counted(pod_set: PodSet) -> frozenset[str]:
    """Resources whose number the allocate hint makes one of devices."""
    hint = pod_annotations.read(pod_set, pod_annotations.HINT)
    return frozenset(
        name
        for kind, names in _TYPES.items()
        for name in names
        if mapping(hint.get(kind)).get("allocateStrategy") == "RequestsAsCount"
    )


def faults(review: Review, found: Mapping[str, Asked], cluster: Cluster | None) -> Iterator[Violation]:
    """Everything beside the amounts."""
    pod_set = review.pod_set
    yield from _isolation(pod_set)
    yield from _old_names(found)
    yield from _joint(pod_set, found)
    yield from _partition(pod_set, found)
    yield from _of_the_system(review)
    yield from _overhead(pod_set, cluster)


def elsewhere(pod_set: PodSet, found: Mapping[str, Asked]) -> Iterator[Violation]:
    """Devices of Koordinator's on a pod that another scheduler places; metadata is another rule's."""
    carried = {*pod_set.labels, *pod_set.annotations}
    if any(key.key in carried for key in KEYS):
        return
    for name, each in found.items():
        if name.startswith("koordinator.sh/"):
            yield Violation(
                each.path,
                f"{name} is a device of Koordinator's, but schedulerName is {pod_set.scheduler_name}: the "
                "pod gets no device",
                "write schedulerName: koord-scheduler, or ask for whole cards by their own name",
                Severity.WARNING,
                key=True,
            )
            return


def _isolation(pod_set: PodSet) -> Iterator[Violation]:
    value = pod_set.labels.get(_ISOLATION)
    if not value and _ISOLATION in pod_set.annotations:
        yield Violation(
            pod_set.place("annotations", _ISOLATION),
            f"{_ISOLATION} is an annotation here, and Koordinator reads the label of this name",
            "move it to the labels",
            key=True,
        )
    if value and value != _HAMI and not is_placeholder(value):
        yield Violation(
            pod_set.place("labels", _ISOLATION),
            f"{_ISOLATION} is {value}, and the only one there is is {_HAMI}",
            f"write {_HAMI}",
        )


def _old_names(found: Mapping[str, Asked]) -> Iterator[Violation]:
    for name, new in _OLD_NAMES.items():
        if name in found:
            yield Violation(
                found[name].path,
                f"{name} is an old name of {new}: only koord-scheduler still translates it",
                f"write {new}",
                Severity.WARNING,
                key=True,
            )


def _joint(pod_set: PodSet, found: Mapping[str, Asked]) -> Iterator[Violation]:
    types = texts(pod_annotations.read(pod_set, pod_annotations.JOINT).get("deviceTypes"))
    for position, kind in enumerate(types):
        asked = any(kind in name.partition("/")[2] for name in found)
        if kind in ("gpu", "rdma", "fpga") and not asked and not (kind == "gpu" and _npu(found)):
            yield Violation(
                pod_set.place("annotations", pod_annotations.JOINT),
                f"{kind} is to be allocated jointly, but the pod asks for none: it is left out",
                f"ask for koordinator.sh/{kind} too, or delete it here",
                Severity.WARNING,
                inside=("deviceTypes", position),
            )


def _partition(pod_set: PodSet, found: Mapping[str, Asked]) -> Iterator[Violation]:
    if pod_annotations.PARTITION not in pod_set.annotations:
        return
    path = pod_set.place("annotations", pod_annotations.PARTITION)
    cards = _cards(found)
    if SHARED in found or cards == 0:
        yield Violation(
            path,
            f"{pod_annotations.PARTITION} is for whole cards, but the pod asks for a part of one: "
            "it is not read",
            "delete it, or ask for whole cards",
            Severity.WARNING,
            key=True,
        )
    elif cards is not None and cards < 8 and cards not in _PARTITIONED:
        yield Violation(
            path,
            f"{pod_annotations.PARTITION} with {cards} cards: the built-in tables have partitions of 1, 2, 4 "
            "and 8",
            "ask for 1, 2, 4 or 8 cards, or give the Devices tables of your own",
            Severity.WARNING,
            key=True,
        )


def _of_the_system(review: Review) -> Iterator[Violation]:
    """Silent for a pod as it was read from a cluster."""
    pod_set, data = review.pod_set, review.manifest.data
    if pod_set.spec.get("nodeName") or data.get("status") or review.manifest.metadata.get("uid"):
        return
    if _RESERVE_POD in pod_set.annotations:
        yield Violation(
            pod_set.place("annotations", _RESERVE_POD),
            f"{_RESERVE_POD} is Koordinator's own: it refuses a pod that carries it",
            "delete it; room is reserved by a Reservation",
            key=True,
        )
    for name in _WRITTEN_BY_SYSTEM:
        if name in pod_set.annotations:
            yield Violation(
                pod_set.place("annotations", name),
                f"{name} is what koord-scheduler writes down for itself",
                "delete it: a pod that carries it is taken to have its devices or CPUs already",
                Severity.WARNING,
                key=True,
            )


def _overhead(pod_set: PodSet, cluster: Cluster | None) -> Iterator[Violation]:
    """Where the policy packs by NodeResourcesFitPlus."""
    target = cluster.targets.get(SYSTEM) if cluster else None
    if cluster is None or target is None or not pod_set.spec.get("overhead"):
        return
    packs = any(pool.card for pool in cluster.pools)
    if packs and releases.possible(cluster)[-1] >= PLUGINS["NodeResourcesFitPlus"]:
        yield Violation(
            pod_set.place("overhead"),
            "the pod states overhead, and NodeResourcesFitPlus of Koordinator may crash at it",
            "use a RuntimeClass without overhead",
            Severity.WARNING,
            key=True,
        )


def _npu(found: Mapping[str, Asked]) -> bool:
    return any(name.startswith("huawei.com/") for name in found)


def _cards(found: Mapping[str, Asked]) -> int | None:
    """Whole cards that are asked for; 0: a part of one; None: unknown."""
    for name, per in (("nvidia.com/gpu", 1), ("amd.com/gpu", 1), (GPU, 100), (RATIO, 100)):
        number = found[name].amount if name in found else None
        if number is not None:
            return number // per
    return None
