"""Queue objects: scheduling.volcano.sh/v1beta1, written and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import is_hugepages
from policykit.kube.requests import amounts
from policykit.manifests.shape import mapping, pairs, text, texts, whole
from policykit.model.quantity import resource_list
from policykit.model.queue import PoolAffinity, Queue
from policykit.namedtuple import NamedTuple

API_VERSION = "scheduling.volcano.sh/v1beta1"
MAX_DEPTH = 5
"""Levels below root (--max-queue-depth)."""
_COUNTED = frozenset({"cpu", "memory", "pods", "ephemeral-storage"})
HIERARCHY = "volcano.sh/hierarchy"
"""Annotation: path of the queue in the tree of plugin drf (hdrf). Read, never written."""
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"

_NEAR, _FAR = "nodeGroupAffinity", "nodeGroupAntiAffinity"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LISTS = {
    "required": (_NEAR, _REQUIRED),
    "preferred": (_NEAR, _PREFERRED),
    "excluded": (_FAR, _REQUIRED),
    "avoided": (_FAR, _PREFERRED),
}
"""Field of PoolAffinity to its path below spec.affinity, where Volcano has node groups."""


class Branch(NamedTuple):
    """One step of a queue's path in the annotated tree."""

    name: str
    weight: float = 1


def write(queue: Queue) -> dict[str, Any]:
    """The object. It states the webhook's defaults, so that GitOps tools see no difference.

    `pools` are node groups: values of the node label of plugin nodegroup (1.9). There is no field for
    who may submit.
    """
    spec: dict[str, Any] = {"weight": queue.weight, "reclaimable": queue.reclaimable}
    if queue.parent:
        spec["parent"] = queue.parent
    if queue.priority is not None:
        spec["priority"] = queue.priority
    if queue.limit:
        spec["capability"] = resource_list(queue.limit)
    if queue.deserved:
        spec["deserved"] = resource_list(queue.deserved)
    if queue.guarantee:
        spec["guarantee"] = {"resource": resource_list(queue.guarantee)}
    if queue.pools and any(queue.pools):
        spec["affinity"] = _affinity(queue.pools)
    return {"apiVersion": API_VERSION, "kind": "Queue", "metadata": {"name": queue.name}, "spec": spec}


def is_counted(resource: str) -> bool:
    """Whether Volcano counts a resource; it drops others silently."""
    return resource in _COUNTED or "/" in resource or is_hugepages(resource)


def _affinity(pools: PoolAffinity) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for field, (side, strength) in _LISTS.items():
        names = getattr(pools, field)
        if names:
            written.setdefault(side, {})[strength] = list(names)
    return written


def read(data: Mapping[str, Any]) -> Queue:
    """A Queue. A field that is missing or has the wrong type gets Volcano's default."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    weight = whole(spec.get("weight"))
    return Queue(
        text(metadata.get("name")),
        text(spec.get("parent")),
        1 if weight is None else weight,
        guarantee=amounts(mapping(spec.get("guarantee")).get("resource")),
        deserved=amounts(spec.get("deserved")),
        limit=amounts(spec.get("capability")),
        priority=whole(spec.get("priority")),
        reclaimable=spec.get("reclaimable") is not False,
        pools=_pools(mapping(spec.get("affinity"))),
    )


def _pools(affinity: Mapping[str, Any]) -> PoolAffinity | None:
    found = PoolAffinity(
        **{
            field: texts(mapping(affinity.get(side)).get(strength))
            for field, (side, strength) in _LISTS.items()
        }
    )
    return found if any(found) else None


def branches(data: Mapping[str, Any]) -> tuple[Branch, ...]:
    """The queue's path in the annotated tree, from below root to the queue itself; empty: it has none."""
    annotations = pairs(mapping(data.get("metadata")).get("annotations"))
    steps = [step for step in annotations.get(HIERARCHY, "").split("/") if step]
    weights = list(_weights(annotations.get(HIERARCHY_WEIGHTS, "")))
    weights += [1.0] * (len(steps) - len(weights))
    found = tuple(Branch(name, weight) for name, weight in zip(steps, weights, strict=False))
    return found[1:] if found and found[0].name == "root" else found


def _weights(written: str) -> Iterator[float]:
    for each in written.split("/") if written else ():
        try:
            yield float(each)
        except ValueError:
            yield 1.0
