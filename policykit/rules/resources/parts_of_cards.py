"""Amounts of memory and cores of one card in a container: part of the rule about exclusive resources."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.requests import containers, requested
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.placement.review import Review

GPUSHARE_MEMORY = "aliyun.com/gpu-mem"
TENCENT_CORES, TENCENT_MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
_WHOLE = 100


def in_one_container(review: Review, one: str, other: str) -> Path:
    """Where the first container with both requests the other; empty: none has both.

    Source: `GenerateResourceRequests` and `Fit` of HAMi (2.4 to 2.9), `vgpu/utils.go` of Volcano (1.15).
    """
    for field, position, container in containers(review.pod_set.spec):
        asked = requested(container)
        if asked.get(one, 0) > 0 and asked.get(other, 0) > 0:
            side = "limits" if other in mapping(container["resources"].get("limits")) else "requests"
            return review.pod_set.place(field, position, "resources", side, other)
    return ()


def half_of_two(review: Review) -> Iterator[Violation]:
    """A part of a card is cores and memory. Source: gpu-manager `pkg/services/allocator/nvidia` (1.1)."""
    for field, position, container in containers(review.pod_set.spec):
        asked, resources = requested(container), mapping(container.get("resources"))
        written = {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}
        for name, other in ((TENCENT_CORES, TENCENT_MEMORY), (TENCENT_MEMORY, TENCENT_CORES)):
            amount = asked.get(name, 0)
            whole = name == TENCENT_CORES and amount >= _WHOLE
            if amount <= 0 or whole or other in written:
                continue
            side = "limits" if name in mapping(resources.get("limits")) else "requests"
            yield Violation(
                review.pod_set.place(field, position, "resources", side, name),
                f"{name} is {amount}, but {other} is not requested: gpu-manager refuses the pod on its node",
                f"add {other}, or request whole cards ({_WHOLE} of {TENCENT_CORES} each)",
            )
