"""Labels, annotations and resource names of pods that request devices from Koordinator.

Apart from its rule, which most pods do not need it for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, texts
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review
from policykit.rules.koordinator.device_requests import FPGA, GPU, RATIO, RDMA, SHARED, Request
from policykit.targets.koordinator import versions
from policykit.targets.koordinator.names import (
    KEYS,
    OLD_RESOURCES,
    RESERVATION_AFFINITY,
    RESOURCE_SPEC,
    TARGET_NAME,
)
from policykit.targets.koordinator.objects.values import parsed
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

_HINT, _JOINT, _PARTITION = (
    f"{_PREFIX}{name}" for name in ("device-allocate-hint", "device-joint-allocate", "gpu-partition-spec")
)
_TYPES = ("gpu", "rdma", "fpga")
_BIND = ("Default", "FullPCPUs", "SpreadByPCPUs", "ConstrainedBurst")
_ANY: tuple[str, ...] = ()


def counted(pod_set: PodSet) -> frozenset[str]:
    """Resources whose amount is a number of devices, because the allocate hint says so."""
    hint = _annotation(pod_set, _HINT)
    return frozenset(
        name
        for kind, name in _COUNTABLE.items()
        if mapping(hint.get(kind)).get("allocateStrategy") == "RequestsAsCount"
    )


def check(review: Review, requests: Mapping[str, Request], cluster: Cluster | None) -> Iterator[Violation]:
    """Everything except the amounts."""
    pod_set = review.pod_set
    yield from _annotations(pod_set)
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
    types = texts(_annotation(pod_set, _JOINT).get("deviceTypes"))
    for position, kind in enumerate(types):
        requested = any(kind in name.partition("/")[2] for name in requests)
        if kind not in _TYPES and not is_placeholder(kind):
            yield Violation(
                pod_set.place("annotations", _JOINT),
                f"deviceTypes names {kind}, which Koordinator does not allocate: it is ignored",
                f"write {', '.join(_TYPES[:-1])} or {_TYPES[-1]}",
                Severity.WARNING,
                inside=("deviceTypes", position),
            )
        if kind in _TYPES and not requested and not (kind == "gpu" and _npu(requests)):
            yield Violation(
                pod_set.place("annotations", _JOINT),
                f"deviceTypes names {kind}, but the pod requests none: it is ignored",
                f"request koordinator.sh/{kind} too, or remove it from deviceTypes",
                Severity.WARNING,
                inside=("deviceTypes", position),
            )


def _partition(pod_set: PodSet, requests: Mapping[str, Request]) -> Iterator[Violation]:
    if _PARTITION not in pod_set.annotations:
        return
    path = pod_set.place("annotations", _PARTITION)
    cards = _cards(requests)
    if SHARED in requests or cards == 0:
        yield Violation(
            path,
            f"{_PARTITION} applies to whole cards, but the pod requests part of one: it is ignored",
            "delete it, or request whole cards",
            Severity.WARNING,
            key=True,
        )
    elif cards is not None and cards < 8 and cards not in _PARTITION_SIZES:
        yield Violation(
            path,
            f"{_PARTITION} with {cards} cards: the built-in partitions have 1, 2, 4 or 8",
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
    target = cluster.targets.get(TARGET_NAME) if cluster else None
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


class _Shape(NamedTuple):
    """Fields of a JSON object with their allowed values; empty: any."""

    fields: Mapping[str, tuple[str, ...]]
    below: tuple[str, ...] = ()
    """The annotation has one such object under each of these names."""


_REQUIRED, _TERMS = "requiredDuringSchedulingIgnoredDuringExecution", "reservationSelectorTerms"
_SHAPES: Mapping[str, _Shape] = {
    RESOURCE_SPEC: _Shape(
        {
            "requiredCPUBindPolicy": _BIND,
            "preferredCPUBindPolicy": _BIND,
            "preferredCPUExclusivePolicy": ("None", "PCPULevel", "NUMANodeLevel"),
        }
    ),
    f"{_PREFIX}numa-topology-spec": _Shape(
        {
            "numaTopologyPolicy": ("BestEffort", "Restricted", "SingleNUMANode"),
            "singleNUMANodeExclusive": ("Preferred", "Required"),
        }
    ),
    _HINT: _Shape(
        {
            "selector": _ANY,
            "vfSelector": _ANY,
            "allocateStrategy": ("ApplyForAll", "RequestsAsCount"),
            "requiredTopologyScope": ("Device", "PCIe", "NUMANode", "Node"),
            "exclusivePolicy": ("DeviceLevel", "PCIeLevel"),
        },
        ("gpu", "rdma", "fpga"),
    ),
    _JOINT: _Shape({"deviceTypes": _ANY, "requiredScope": ("SamePCIe",)}),
    _PARTITION: _Shape({"allocatePolicy": ("BestEffort", "Restricted"), "ringBusBandwidth": _ANY}),
    RESERVATION_AFFINITY: _Shape(
        dict.fromkeys(("name", _REQUIRED, "reservationSelector", "tolerations"), _ANY)
    ),
}


def _annotation(pod_set: PodSet, key: str) -> dict[str, Any]:
    """The JSON object in an annotation; empty where it is missing or invalid."""
    value = parsed(pod_set.annotations.get(key, ""))
    return value if isinstance(value, dict) else {}


def _annotations(pod_set: PodSet) -> Iterator[Violation]:
    """Source: koordinator `apis/extension/{device_share,numa_aware,reservation}.go` (1.8)."""
    for key, shape in _SHAPES.items():
        written = pod_set.annotations.get(key)
        if not written or is_placeholder(written):
            continue
        path = pod_set.place("annotations", key)
        value = parsed(written)
        if not isinstance(value, dict):
            what = "not valid JSON" if value is None else "not a JSON object"
            yield Violation(
                path,
                f"{key} is {what}: koord-scheduler rejects the pod",
                "write valid JSON: double quotes, no comments, no trailing comma",
            )
        elif shape.below:
            for kind, each in value.items():
                yield from _device_type(kind, each, key, shape, path)
        else:
            yield from _fields(value, key, shape, path, ())
            if key == RESERVATION_AFFINITY:
                yield from _terms(value, path)


def _terms(value: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Without a term no reservation fits. Source: `pkg/util/reservation/reservation.go` (1.3 to 1.8)."""
    stated = {name.lower(): (name, each) for name, each in value.items()}
    name, required = stated.get(_REQUIRED.lower(), ("", None))
    if not isinstance(required, dict) or stated.get("name", ("", ""))[1]:
        return
    found = {one.lower(): each for one, each in required.items()}
    if not found.get(_TERMS.lower()):
        others = [one for one in required if one.lower() != _TERMS.lower()]
        yield Violation(
            path,
            f"{_REQUIRED} of {RESERVATION_AFFINITY} has {', '.join(others) or 'nothing'}, but no {_TERMS}: "
            "no reservation fits, and the pod stays pending",
            f"state the terms as {_TERMS}",
            inside=(name, *others[:1]),
        )


def _device_type(kind: str, each: object, key: str, shape: _Shape, path: Path) -> Iterator[Violation]:
    if kind not in shape.below:
        yield Violation(
            path,
            f"{key} has {kind!r}, which is not a device type: it is ignored",
            f"known: {', '.join(shape.below)}",
            Severity.WARNING,
            inside=(kind,),
        )
    elif isinstance(each, dict):
        yield from _fields(each, key, shape, path, (kind,))


def _fields(
    value: Mapping[str, Any], key: str, shape: _Shape, path: Path, inside: Path
) -> Iterator[Violation]:
    # Go reads the keys of JSON objects whatever their case.
    known = {name.lower(): name for name in shape.fields}
    for name, stated in value.items():
        field = known.get(name.lower())
        if field is None:
            yield Violation(
                path,
                f"{key} has no field {name}: it is ignored",
                f"known: {', '.join(shape.fields)}",
                Severity.WARNING,
                inside=(*inside, name),
            )
            continue
        allowed = shape.fields[field]
        if (
            allowed
            and isinstance(stated, str)
            and stated
            and stated not in allowed
            and not is_placeholder(stated)
        ):
            yield Violation(
                path,
                f"{field} in {key} is {stated!r}, which Koordinator does not know",
                f"known: {', '.join(allowed)}",
                inside=(*inside, name),
            )
