"""PriorityClasses, ResourceQuotas and LimitRanges as a policy states them."""

from __future__ import annotations

from typing import Any

from policykit.importer.amounts import amounts
from policykit.importer.said import said
from policykit.model.queue import ContainerRange, Priority, Quota


def priority(found: Priority) -> dict[str, Any]:
    """A PriorityClass; its value stands also where it is 0."""
    return said(
        value=found.value,
        preempts=None if found.preempts else False,
        default=True if found.default else None,
        description=found.description,
    )


def quota(found: Quota) -> dict[str, Any]:
    """A ResourceQuota with the LimitRange beside it."""
    data = said(
        namespace=found.namespace if found.namespace != found.name else "",
        requests=amounts(found.requests),
        limits=amounts(found.limits),
        pods=found.pods,
        priorities=found.priorities,
    )
    return data if found.containers is None else {**data, "containers": _containers(found.containers)}


def _containers(found: ContainerRange) -> dict[str, Any]:
    return said(
        default=amounts(found.default),
        defaultRequest=amounts(found.default_request),
        min=amounts(found.minimum),
        max=amounts(found.maximum),
    )
