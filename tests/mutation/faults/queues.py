"""Faults of queues: names that lead nowhere, amounts that contradict each other."""

from collections.abc import Iterator
from typing import Any

from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, misspelt, put, remove, rename, replace
from tests.mutation.places import at, named

_LABELS = ("quota.scheduling.koordinator.sh/name", "scheduling.volcano.sh/queue-name", "queue")
_BUILT_IN = frozenset({"default", "root", "root.default"})


def _queue(subject: Subject) -> bool:
    return subject.manifest.kind == "Queue" and subject.manifest.group == "scheduling.volcano.sh"


def _job_queue(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Where workloads name a queue that the policy or the file has."""
    cluster = subject.cluster
    known = {queue.name for queue in cluster.queues} if cluster else set()
    for path, value in named(subject.manifest.data, *_LABELS, "yunikorn.apache.org/queue"):
        if isinstance(value, str) and value.rpartition(".")[2] in known and subject.manifest.kind != "Queue":
            yield path, value


def _queue_misspelt(subject: Subject) -> Iterator[Change]:
    yield from (replace(path, misspelt(value)) for path, value in _job_queue(subject))


def _parent(subject: Subject) -> Iterator[Change]:
    parent = at(subject, ("spec", "parent"))
    if _queue(subject) and isinstance(parent, str) and parent != "root":
        yield replace(("spec", "parent"), misspelt(parent))
    label = at(subject, ("metadata", "labels", "quota.scheduling.koordinator.sh/parent"))
    if subject.manifest.kind == "ElasticQuota" and isinstance(label, str) and "root" not in label:
        yield replace(("metadata", "labels", "quota.scheduling.koordinator.sh/parent"), misspelt(label))


def _own_parent(subject: Subject) -> Iterator[Change]:
    if _queue(subject) and subject.manifest.name not in _BUILT_IN:
        yield put(("spec", "parent"), subject.manifest.name)


def _amounts(*path: str) -> Inject:
    """Amounts far above what stands beside or over them."""

    def inject(subject: Subject) -> Iterator[Change]:
        there = at(subject, path)
        if not isinstance(there, dict) or subject.manifest.kind not in ("Queue", "ElasticQuota"):
            return
        limit = at(subject, ("spec", "capability")) or at(subject, ("spec", "max"))
        for key in there:
            if path[-1] in ("capability", "max") or (isinstance(limit, dict) and key in limit):
                yield replace((*path, key), "90000Gi" if key == "memory" else "90000")

    return inject


def _child(*path: str) -> Inject:
    """Amounts of a child above those of its parent in the same file."""
    amounts = _amounts(*path)

    def inject(subject: Subject) -> Iterator[Change]:
        label = at(subject, ("metadata", "labels", "quota.scheduling.koordinator.sh/parent"))
        parent = at(subject, ("spec", "parent")) or label
        if parent and f"name: {parent}\n" in subject.text:
            yield from amounts(subject)

    return inject


def _resource(subject: Subject) -> Iterator[Change]:
    paths: tuple[Path, ...] = (
        ("spec", "capability"),
        ("spec", "deserved"),
        ("spec", "guarantee", "resource"),
    )
    for path in paths if _queue(subject) else ():
        there = at(subject, path)
        for key in there if isinstance(there, dict) else ():
            if key in ("memory", "cpu"):
                yield rename((*path, key), misspelt(key))


def _guarantee(subject: Subject) -> Iterator[Change]:
    """The amounts stand in `guarantee` itself."""
    amounts = at(subject, ("spec", "guarantee", "resource"))
    if _queue(subject) and isinstance(amounts, dict):
        yield replace(("spec", "guarantee"), amounts)


def _inner(subject: Subject) -> Iterator[Change]:
    """The queue above the one that was meant."""
    parents = {each.name: each.parent for each in subject.cluster.queues} if subject.cluster else {}
    for path, value in _job_queue(subject):
        parent = parents.get(value.rpartition(".")[2])
        if parent and parent not in _BUILT_IN:
            yield replace(path, value.rpartition(".")[0] if "." in value else parent)


def _of_others(subject: Subject) -> bool:
    """A queue of Volcano's that the policy judges and has not made."""
    own = {each.name for each in subject.cluster.queues} if subject.cluster else set()
    return _queue(subject) and subject.cluster is not None and subject.manifest.name not in {*own, *_BUILT_IN}


def _promised(subject: Subject) -> Iterator[Change]:
    cluster = subject.cluster
    if _of_others(subject) and cluster and cluster.complete and not at(subject, ("spec", "parent")):
        yield replace(("spec",), {"weight": 1, "guarantee": {"resource": {"nvidia.com/gpu": "100000"}}})


def _open_cards(subject: Subject) -> Iterator[Change]:
    alone = not at(subject, ("spec", "parent")) and subject.others.count("Queue") == 1
    if _of_others(subject) and alone and not at(subject, ("spec", "capability")):
        amounts = at(subject, ("spec", "deserved"))
        if amounts is None and at(subject, ("spec", "guarantee")) is None:
            yield put(("spec", "capability"), {"cpu": "64", "memory": "256Gi"})


def _on_owner(subject: Subject) -> Iterator[Change]:
    """The queue stands on the object, not on its pods."""
    kinds = ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet")
    for path, value in named(subject.manifest.data, *_LABELS) if subject.manifest.kind in kinds else ():
        if path[:3] == ("spec", "template", "metadata") and isinstance(value, str):
            there = put(("metadata", *path[3:]), value)
            yield Change((Patch("remove", path), *there.patches))


def _field(path: Path, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        if _queue(subject):
            yield put(path, value)

    return inject


def _above_pools(subject: Subject) -> Iterator[Change]:
    cluster = subject.cluster
    known = {queue.name for queue in cluster.queues} if cluster else set()
    if _queue(subject) and cluster and cluster.complete and subject.manifest.name not in known:
        for key in at(subject, ("spec", "capability")) or ():
            if any(key in pool.resources for pool in cluster.pools):
                yield replace(("spec", "capability", key), 900_000)


def _for_kai(subject: Subject) -> Iterator[Change]:
    """Pods of built-in kinds for KAI, which need the label of a queue."""
    if subject.manifest.api_version not in ("v1", "apps/v1", "batch/v1"):
        return
    for pod_set in subject.pod_sets:
        if not pod_set.scheduler_name and pod_set.scheduler_path and pod_set.spec.get("containers"):
            yield put(pod_set.scheduler_path, "kai-scheduler")


def _without_node_pool(subject: Subject) -> Iterator[Change]:
    """Pods of a queue of a node pool of KAI, without the label."""
    key = "kai.scheduler/node-pool"
    for pod_set in subject.pod_sets if "Queue" in subject.others else ():
        path = pod_set.place("labels", key)
        if at(subject, path) is not None and key not in subject.manifest.metadata:
            yield remove(path)


FAULTS = (
    fault("pods without the node pool of their queue", "PK415", _without_node_pool),
    fault("pods for KAI without a queue", "PK413 PK122", _for_kai),
    fault("a queue above all pools", "PK412 PK405", _above_pools),
    fault("a misspelt queue", "PK401 PK712", _queue_misspelt),
    fault("the queue above the one that was meant", "PK402 PK401 PK712", _inner),
    fault("a queue on the owner of its pods", "PK410", _on_owner),
    fault("more promised than all pools have", "PK407", _promised),
    fault("a limit of everything but cards", "PK409", _open_cards),
    fault("a misspelt parent queue", "PK403 PK610", _parent, elsewhere=True),
    fault("a queue that is its own parent", "PK403 PK511", _own_parent, elsewhere=True),
    fault("a guarantee above the limit", "PK404 PK406 PK610", _amounts("spec", "guarantee", "resource")),
    fault("a deserved share above the limit", "PK404 PK406", _amounts("spec", "deserved")),
    fault("a quota's min above its max", "PK404 PK406 PK610", _amounts("spec", "min")),
    fault("a child's limit above its parent's", "PK405 PK610", _child("spec", "capability"), elsewhere=True),
    fault("a quota's max above its parent's", "PK405 PK610", _child("spec", "max"), elsewhere=True),
    fault("a misspelt resource of a queue", "PK408", _resource),
    fault("a guarantee without resource", "PK003 PK004", _guarantee),
    fault("a weight of nothing", "PK511 PK004", _field(("spec", "weight"), -1)),
    fault(
        "a queue's unknown dequeue strategy", "PK511 PK514 PK004", _field(("spec", "dequeueStrategy"), "lifo")
    ),
)
