"""Memory of shared cards by Alibaba Cloud's gpushare: part of the rule about exclusive resources."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.requests import containers, requested
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.rules.resources.parts_of_cards import GPUSHARE_MEMORY as MEMORY

_MOST = 2_000_000
"""Neither GiB, the default, nor MiB of a card are as many."""


def violations(review: Review) -> Iterator[Violation]:
    """Source: `Allocate` and `getGPUMemoryFromPodResource` of gpushare-device-plugin (v2)."""
    asking: list[Path] = []
    for field, position, container in containers(review.pod_set.spec):
        amount = requested(container).get(MEMORY, 0)
        if amount <= 0:
            continue
        resources = mapping(container.get("resources"))
        side = "limits" if MEMORY in mapping(resources.get("limits")) else "requests"
        path = review.pod_set.place(field, position, "resources", side, MEMORY)
        if amount > _MOST:
            yield Violation(
                path,
                f"{MEMORY} is {mapping(resources.get(side)).get(MEMORY)}, but it counts GiB, or MiB if the "
                f"plugin is told so: no card has {amount}",
                "write the number without a unit: 10 for 10 GiB",
                Severity.WARNING,
            )
        if field == "containers":
            asking.append(path)
    if len(asking) > 1:
        yield Violation(
            asking[1],
            f"{len(asking)} containers request {MEMORY}, but gpushare's open device plugin looks for a pod "
            "that requests as much as one container: none of them gets a card",
            "request it in one container of a pod",
            Severity.WARNING,
        )
