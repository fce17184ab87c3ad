"""The queues that the pods of an object are submitted to, for all targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.linter.target import QueueSupport, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.declared_queues import QueueUse
from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple
from policykit.targets import TARGETS, target_name_of


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """One fact for each place that names a queue, for the target that reads it."""
    for target in TARGETS:
        if target.queues:
            yield from _uses(target, target.queues, manifest, pod_sets, context)
    if manifest.kind == "Namespace" and not manifest.group:
        yield from _of_namespace(manifest)


def _of_namespace(manifest: Manifest) -> Iterator[Fact]:
    """The queue of groups in the namespace that do not name one."""
    for target in TARGETS:
        key = target.queues.namespace_key if target.queues else ""
        queue = manifest.annotations.get(key) if key else ""
        if queue and not is_placeholder(queue):
            use = QueueUse(target.name, manifest.name, queue)
            yield Fact(use, {"queue": ("metadata", "annotations", key)})


def _uses(
    target: Target, support: QueueSupport, manifest: Manifest, pod_sets: Sequence[PodSet], context: Context
) -> Iterator[Fact]:
    target_name = target.name
    found: dict[Path, tuple[str, list[PodSet]]] = {}
    for pod_set in pod_sets:
        selected = queues.read(manifest.data, pod_set, target_name)
        if selected is None or is_placeholder(selected.value):
            continue
        follows = support.group_key and support.group_key in pod_set.annotations
        if follows and _in_pods(pod_set, selected.path):
            continue  # the group decides the queue of its members
        if support.admits:
            # A patch without a namespace may apply to any.
            counts = not manifest.partial or bool(manifest.namespace)
        else:
            counts = _counts(target, pod_set, selected.path, context)
        if counts:
            found.setdefault(selected.path, (selected.value, []))[1].append(pod_set)
    for path, (name, members) in found.items():
        whole = _workload(support, manifest, members)
        start = whole or _gang_start(manifest, target_name, members)
        use = QueueUse(
            target_name,
            manifest.namespace or context.namespace,
            name,
            members[0].scheduler_name,
            gang=start.pods,
            request=start.request,
            whole=whole is not None,
        )
        yield Fact(use, {"queue": path})


def _counts(target: Target, pod_set: PodSet, path: Path, context: Context) -> bool:
    """Whether the target places the pods: by their schedulerName, or because of where the queue is named."""
    scheduler = pod_set.scheduler_name
    if is_placeholder(scheduler):
        return False
    if scheduler:
        return target_name_of(scheduler, context.cluster) == target.name
    if _in_pods(pod_set, path):
        # Its admission controller sets the schedulerName of pods with its own labels, not with a label
        # `queue` that has another purpose.
        own = any(key.key == path[-1] for key in target.keys)
        return target.overrides_scheduler is not None and own and _served(target.name, context)
    # Controllers with a field for the queue also set schedulerName; Spark's has one for it.
    return path[-2:] != ("batchSchedulerOptions", "queue")


def _served(target_name: str, context: Context) -> bool:
    return context.cluster is None or target_name in context.cluster.targets


def _in_pods(pod_set: PodSet, path: Path) -> bool:
    """Whether the place is a label or annotation of the pods."""
    return any(path[:-1] == pod_set.places.get(where) for where in ("labels", "annotations"))


class _StartRequest(NamedTuple):
    pods: int | None
    request: Amounts


def _workload(support: QueueSupport, manifest: Manifest, members: Sequence[PodSet]) -> _StartRequest | None:
    """All pods of an object that its system admits at once; None: it does not, or their number is unknown."""
    pods = support.workload_pods.load()(manifest, members) if support.workload_pods else None
    return _StartRequest(pods, total_request(members, pods)) if pods else None


def _gang_start(manifest: Manifest, target_name: str, members: Sequence[PodSet]) -> _StartRequest:
    """The gang of the pods and its smallest possible request; without a gang, the request of one pod."""
    from policykit.kube.podsets.gangs import gangs
    from policykit.kube.requests import effective

    asked = [effective(each.spec, each.devices) for each in members]
    names = {each.name for each in members}
    for gang in gangs(manifest.data):
        whole = gang.enabled and gang.scheduler in ("", target_name) and set(gang.members) == names
        if whole and gang.min_member and gang.min_member > 0:
            return _StartRequest(gang.min_member, total_request(members, gang.min_member))
    return _StartRequest(None, _smallest_requests(asked))


def _smallest_requests(asked: Sequence[Amounts]) -> dict[str, int]:
    """Smallest request of any of the pods, per resource."""
    return {
        resource: min(each.get(resource, 0) for each in asked)
        for resource in sorted({name for each in asked for name in each})
    }


def total_request(members: Sequence[PodSet], pods: int) -> dict[str, int]:
    """Total request of the `pods` smallest pods, per resource."""
    from policykit.kube.requests import effective

    asked = [effective(each.spec, each.devices) for each in members]
    return {
        resource: cheapest(
            [(each.get(resource, 0), m.replicas) for each, m in zip(asked, members, strict=True)], pods
        )
        for resource in sorted({name for each in asked for name in each})
    }


def cheapest(priced: Sequence[tuple[int, int | None]], pods: int) -> int:
    """The least total cost of `pods` pods. `priced`: (cost of one, how many there are; None: any number)."""
    total = 0
    for amount, there in sorted(priced, key=lambda each: each[0]):
        taken = pods if there is None else min(pods, there)
        total, pods = total + taken * amount, pods - taken
    return total
