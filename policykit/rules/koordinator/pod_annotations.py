"""JSON in pod annotations that koord-scheduler reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.koordinator.objects.annotations import parsed

_PREFIX = "scheduling.koordinator.sh/"
HINT, JOINT, PARTITION = (
    f"{_PREFIX}{name}" for name in ("device-allocate-hint", "device-joint-allocate", "gpu-partition-spec")
)
_BIND = ("Default", "FullPCPUs", "SpreadByPCPUs", "ConstrainedBurst")
_ANY: tuple[str, ...] = ()


class Shape(NamedTuple):
    """Fields of a JSON object with their allowed values; empty: any."""

    fields: Mapping[str, tuple[str, ...]]
    below: tuple[str, ...] = ()
    """The annotation has one such object under each of these names."""


_SHAPES: Mapping[str, Shape] = {
    f"{_PREFIX}resource-spec": Shape(
        {
            "requiredCPUBindPolicy": _BIND,
            "preferredCPUBindPolicy": _BIND,
            "preferredCPUExclusivePolicy": ("None", "PCPULevel", "NUMANodeLevel"),
        }
    ),
    f"{_PREFIX}numa-topology-spec": Shape(
        {
            "numaTopologyPolicy": ("BestEffort", "Restricted", "SingleNUMANode"),
            "singleNUMANodeExclusive": ("Preferred", "Required"),
        }
    ),
    HINT: Shape(
        {
            "selector": _ANY,
            "vfSelector": _ANY,
            "allocateStrategy": ("ApplyForAll", "RequestsAsCount"),
            "requiredTopologyScope": ("Device", "PCIe", "NUMANode", "Node"),
            "exclusivePolicy": ("DeviceLevel", "PCIeLevel"),
        },
        ("gpu", "rdma", "fpga"),
    ),
    JOINT: Shape({"deviceTypes": _ANY, "requiredScope": ("SamePCIe",)}),
    PARTITION: Shape({"allocatePolicy": ("BestEffort", "Restricted"), "ringBusBandwidth": _ANY}),
    f"{_PREFIX}reservation-affinity": Shape(
        dict.fromkeys(
            (
                *("name", "requiredDuringSchedulingIgnoredDuringExecution"),
                *("reservationSelector", "tolerations"),
            ),
            _ANY,
        )
    ),
}


def read(pod_set: PodSet, key: str) -> dict[str, Any]:
    """The JSON object in an annotation; empty where it is missing or invalid."""
    value = parsed(pod_set.annotations.get(key, ""))
    return value if isinstance(value, dict) else {}


def check(pod_set: PodSet) -> Iterator[Violation]:
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


def _device_type(kind: str, each: object, key: str, shape: Shape, path: Path) -> Iterator[Violation]:
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
    value: Mapping[str, Any], key: str, shape: Shape, path: Path, inside: Path
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
