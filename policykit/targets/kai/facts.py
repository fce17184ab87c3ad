"""Facts about KAI-Scheduler: its queues, how it treats them, and its releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text
from policykit.model.declared_queues import DeclaredQueue, PolicyQueues, QueuePartition, QueueSemantics
from policykit.model.release import ReleaseFact, Releases, Version
from policykit.model.severity import Severity
from policykit.targets.kai import NAME, PARTITION, QUEUE, QUEUE_OF_DYNAMO, SCHEDULER

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

KIND = "Queue"
GROUP = "scheduling.run.ai"
SHARD = "SchedulingShard"
GROUP_OF_SYSTEM = "kai.scheduler"
_RESOURCES = {"gpu": ("nvidia.com/gpu", 1), "cpu": ("cpu", 1), "memory": ("memory", 1_000_000)}
"""A queue's own name of a resource to that of Kubernetes, and its unit: a card, a milli-core, 10^6 bytes."""
_FIELDS = {"guarantee": "quota", "limit": "limit"}
_OF_CHART = frozenset({"default-queue", "default-parent-queue"})
"""The chart makes them: `defaultQueue` in its values."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """Source: `createQueueResourceAttrs` in pkg/scheduler/plugins/proportion (0.6 to 0.13)."""
    if manifest.group != GROUP or manifest.kind != KIND:
        yield from _partitions(manifest, pod_sets)
        return
    spec = mapping(manifest.data.get("spec"))
    label: Path = ("metadata", "labels", PARTITION) if PARTITION in manifest.labels else ("metadata", "name")
    own = QueuePartition(
        "queue", manifest.name, manifest.labels.get(PARTITION, ""), text(spec.get("parentQueue"))
    )
    yield Fact(own, {"partition": label})
    resources = mapping(spec.get("resources"))
    places: dict[str, Path] = {"name": ("metadata", "name")}
    found = {field: _amounts(resources, field, key, places) for field, key in _FIELDS.items()}
    if "parentQueue" in spec:
        places["parent"] = ("spec", "parentQueue")
    yield Fact(
        DeclaredQueue(
            NAME,
            manifest.name,
            text(spec.get("parentQueue")),
            found["guarantee"] or {},
            limit=found["limit"] or {},
            measured=bool(resources) and None not in found.values(),
        ),
        places,
    )


def _partitions(manifest: Manifest, pod_sets: Sequence[PodSet]) -> Iterator[Fact]:
    """Source: `addNodePoolLabel` in pkg/podgrouper, `GetLabelSelector` of the scheduler (0.6 to 0.20)."""
    if manifest.group == GROUP_OF_SYSTEM and manifest.kind == SHARD:
        stated = mapping(manifest.data.get("spec")).get("partitionLabelValue")
        at: Path = ("metadata", "name") if stated is None else ("spec", "partitionLabelValue")
        yield Fact(QueuePartition("scheduler", partition=text(stated)), {"partition": at})
    for pod_set in pod_sets:
        labels = {**manifest.labels, **pod_set.labels}
        queue, scheduler = labels.get(QUEUE, ""), pod_set.scheduler_name
        where = pod_set.places.get("labels") if QUEUE in pod_set.labels else ("metadata", "labels")
        at = (*(where or pod_set.path), QUEUE)
        if not queue and manifest.kind == "DynamoGraphDeployment":
            queue, scheduler = manifest.annotations.get(QUEUE_OF_DYNAMO, ""), SCHEDULER
            at = ("metadata", "annotations", QUEUE_OF_DYNAMO)
        if queue and scheduler == SCHEDULER and not manifest.partial and not pod_set.stored:
            yield Fact(QueuePartition("pods", queue, labels.get(PARTITION, "")), {"partition": at})


def _amounts(
    resources: Mapping[str, object], field: str, key: str, places: dict[str, Path]
) -> dict[str, int] | None:
    """What is unset is 0, what is negative has no bound; None: an amount is not a number."""
    found: dict[str, int] = {}
    for own, (resource, unit) in _RESOURCES.items():
        stated = mapping(resources.get(own))
        written = stated.get(key, 0)
        if isinstance(written, bool) or not isinstance(written, int | float):
            return None
        amount = written * unit
        if isinstance(amount, float) and not isfinite(amount):
            return None
        if written >= 0:
            found[resource] = int(amount)
            if key in stated:
                places[f"{field}.{resource}"] = ("spec", "resources", own, key)
    return found


def queue_semantics(cluster: Cluster | None) -> QueueSemantics:
    """Queues form a tree of any depth, whose leaves take pods. Nothing but the shape is validated.

    Source: `cleanQueueOrphans` in pkg/scheduler/cache/cluster_info, `IsLeafQueue` and, up to 0.12,
    `addQueue` in pkg/scheduler/actions/utils, which skips queues without a parent (0.6 to 0.13).
    """
    return QueueSemantics(
        "KAI-Scheduler",
        "queue",
        {"guarantee": "quota", "limit": "limit"},
        built_in=_OF_CHART,
        excess_limit=Severity.INFO,
        order=Severity.WARNING,
        tree_fault="KAI-Scheduler leaves it out, with everything below it",
        queue_fault="the excess has no effect",
        submit_fault="KAI-Scheduler skips jobs that are not in a leaf queue",
        top_fault="KAI-Scheduler before 0.13 places pods only from queues below another",
        unknown_fault="KAI-Scheduler places no pods of a queue that does not exist",
    )


def policy_queues(cluster: Cluster) -> PolicyQueues:
    """None: nothing is generated for KAI-Scheduler."""
    return PolicyQueues()


RELEASES = Releases("KAI-Scheduler", {**dict.fromkeys(range(6, 13), 99), 13: 0}, major=0, by_patch=False)
FACTS = (
    ReleaseFact(
        "label",
        "runai/queue",
        gone=Version(0, 6, 0),
        instead=f"label {QUEUE}",
        source="pkg/podgrouper/podgroup/podgroup.go",
    ),
)
