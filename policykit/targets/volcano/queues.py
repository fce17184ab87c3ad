"""Queue objects: scheduling.volcano.sh/v1beta1, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.requests import amounts
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue

API_VERSION = "scheduling.volcano.sh/v1beta1"


def write(queue: Queue) -> dict[str, Any]:
    """A queue as Volcano's object. Defaults the webhook would fill in are stated, so nothing drifts."""
    spec: dict[str, Any] = {"weight": queue.weight, "reclaimable": queue.reclaimable}
    if queue.parent:
        spec["parent"] = queue.parent
    if queue.priority is not None:
        spec["priority"] = queue.priority
    if queue.limit:
        spec["capability"] = _quantities(queue.limit)
    if queue.deserved:
        spec["deserved"] = _quantities(queue.deserved)
    if queue.guarantee:
        spec["guarantee"] = {"resource": _quantities(queue.guarantee)}
    return {"apiVersion": API_VERSION, "kind": "Queue", "metadata": {"name": queue.name}, "spec": spec}


def _quantities(wanted: Amounts) -> dict[str, str]:
    return {resource: amount_text(resource, wanted[resource]) for resource in sorted(wanted)}


def read(data: Mapping[str, Any]) -> Queue:
    """A Queue object; what is absent or of another shape has Volcano's default."""
    metadata, spec = _mapping(data.get("metadata")), _mapping(data.get("spec"))
    name, parent = metadata.get("name"), spec.get("parent")
    weight = _whole(spec.get("weight"))
    return Queue(
        name if isinstance(name, str) else "",
        parent if isinstance(parent, str) else "",
        1 if weight is None else weight,
        guarantee=amounts(_mapping(spec.get("guarantee")).get("resource")),
        deserved=amounts(spec.get("deserved")),
        limit=amounts(spec.get("capability")),
        priority=_whole(spec.get("priority")),
        reclaimable=spec.get("reclaimable") is not False,
    )


def _mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
