"""Queues and preemption as a policy states them."""

from __future__ import annotations

from typing import Any

from policykit.importer.amounts import amounts
from policykit.importer.said import said
from policykit.model.queue import PoolAffinity, Preemption, Queue, Submitters


def queue(found: Queue) -> dict[str, Any]:
    """A queue: keys in the order of the policy format."""
    return said(
        parent=found.parent,
        weight=found.weight if found.weight != 1 else None,
        guarantee=amounts(found.guarantee),
        deserved=amounts(found.deserved),
        limit=amounts(found.limit),
        priority=found.priority,
        reclaimable=None if found.reclaimable else False,
    ) | _access(found.submit, found.pools)


def preemption(found: Preemption) -> dict[str, Any]:
    """Whose pods make room for whose; empty: nothing is said."""
    return said(withinQueue=found.within_queue, reclaim=found.reclaim)


def _access(submit: Submitters | None, pools: PoolAffinity | None) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if submit is not None:
        data["submit"] = said(**submit._asdict())
    if pools is not None:
        only_required = pools == PoolAffinity(pools.required)
        data["pools"] = list(pools.required) if only_required else said(**pools._asdict())
    return data
