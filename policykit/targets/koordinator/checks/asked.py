"""Device resources that the containers of a pod ask for, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.quantity import amount

GPU, CORE = "koordinator.sh/gpu", "koordinator.sh/gpu-core"
MEMORY, RATIO, SHARED = (
    "koordinator.sh/gpu-memory",
    "koordinator.sh/gpu-memory-ratio",
    "koordinator.sh/gpu.shared",
)
RDMA, FPGA = "koordinator.sh/rdma", "koordinator.sh/fpga"
NPU_CORE, NPU_CPU, NPU_DVPP = "huawei.com/npu-core", "huawei.com/npu-cpu", "huawei.com/npu-dvpp"
WHOLE_CARDS = ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")
OF_GPUS = frozenset({GPU, CORE, MEMORY, RATIO, SHARED, NPU_CORE, NPU_CPU, NPU_DVPP, *WHOLE_CARDS})
"""What counts among a pod's requests for GPUs."""


class Asked(NamedTuple):
    """What one pod asks for of a resource, all containers together."""

    path: Path
    """Of the first that asks."""
    amount: int | None
    """cpu in milli-cores, else units; None: one of them is no number, a placeholder."""


def asked(pod_set: PodSet) -> dict[str, Asked]:
    """Resource to what is asked; amounts of 0 are left out."""
    found: dict[str, Asked] = {}
    for place, resource, value in _each(pod_set):
        number = amount(resource, value)
        if number == 0:
            continue
        before = found.get(resource)
        if before is None:
            found[resource] = Asked(place, number)
        else:
            known = before.amount is not None and number is not None
            found[resource] = before._replace(amount=(before.amount or 0) + (number or 0) if known else None)
    return found


def _each(pod_set: PodSet) -> Iterator[tuple[Path, str, Any]]:
    """Of containers, not of init containers; a request counts before a limit."""
    for name, index, container in containers(pod_set.spec):
        if name != "containers":
            continue
        resources = mapping(container.get("resources"))
        place = pod_set.place(name, index, "resources")
        limits: Mapping[str, Any] = mapping(resources.get("limits"))
        requests: Mapping[str, Any] = mapping(resources.get("requests"))
        for resource in dict.fromkeys((*limits, *requests)):
            if isinstance(resource, str):
                where = "requests" if resource in requests else "limits"
                yield (*place, where, resource), resource, mapping(resources.get(where))[resource]
