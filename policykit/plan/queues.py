"""Queues, quotas and priorities of a change: what goes, falls or becomes a parent, and who uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from policykit.cycles import depth
from policykit.kube.podsets import pod_sets, priority_class, queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts, effective
from policykit.linter.finding import listed
from policykit.manifests.document import Manifest
from policykit.manifests.path import lookup
from policykit.manifests.shape import mappings, text
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.queue import Queue, Quota
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review
from policykit.plan.effects import NOWHERE, PRIORITY, QUEUE, QUOTA, Effect
from policykit.plan.workloads import Workload
from policykit.targets import TARGETS

DONE = ("Succeeded", "Failed")
"""Phases of pods that use nothing any more."""
LIVE_KINDS = ("Queue", "ClusterQueue")
"""Kinds of queues whose status says what is allocated from them."""
_SUMS = ("guarantee", "deserved", "limit")


class QueueChanges(NamedTuple):
    """What a change does to queues that exist; children come before their parents."""

    gone: tuple[str, ...] = ()
    """Their objects are deleted: by name, or all of them with the target that they are written for."""
    targets: tuple[str, ...] = ()
    """Targets that the policy no longer has, whose queues are deleted."""
    parents: Mapping[str, tuple[str, ...]] = {}
    """Queues that get their first children, with these."""
    fallen: tuple[str, ...] = ()
    """Children whose amounts fall together with those of their parents."""

    def without(self, unused: frozenset[str]) -> QueueChanges:
        """Without queues for which nobody has to wait."""
        parents = {name: found for name, found in self.parents.items() if name not in unused}
        return self._replace(gone=tuple(each for each in self.gone if each not in unused), parents=parents)


def queue_changes(before: Cluster, after: Cluster) -> QueueChanges:
    kept = {queue.name for queue in after.queues}
    writers = {each.name for each in TARGETS if each.queues and each.generate and not each.always}
    off = tuple(sorted((before.targets.keys() - after.targets.keys()) & writers))
    old, new = _by_name(before), _by_name(after)
    upwards = [name for name in _children_first(old) if off or name not in kept]
    fallen = {name for name, queue in new.items() if name in old and _falls(old[name], queue)}
    return QueueChanges(
        tuple(upwards),
        off,
        {} if off else dict(_new_parents(old, new, after)),
        tuple(name for name in new if name in fallen and new[name].parent in fallen),
    )


def _by_name(cluster: Cluster) -> dict[str, Queue]:
    return {queue.name: queue for queue in cluster.queues}


def _children_first(known: Mapping[str, Queue]) -> list[str]:
    parents = {name: queue.parent for name, queue in known.items()}
    return sorted(known, key=lambda name: -depth(name, parents))


def _new_parents(
    old: Mapping[str, Queue], new: Mapping[str, Queue], after: Cluster
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where no system of the policy has trees, a parent is nothing to it."""
    had = {queue.parent for queue in old.values()}
    trees = any(
        each.queues.semantics.load()(after).trees
        for each in TARGETS
        if each.queues and each.name in after.targets and not each.always
    )
    for name in new if trees else ():
        children = tuple(queue.name for queue in new.values() if queue.parent == name)
        if children and name in old and name not in had:
            yield name, children


def _falls(old: Queue, new: Queue) -> bool:
    """Whether an amount is lower, or a limit is new: without one, it was unlimited."""
    limited = bool(new.limit.keys() - old.limit.keys())
    return limited or any(
        getattr(new, field).get(name, 0 if field != "limit" else amount) < amount
        for field in _SUMS
        for name, amount in getattr(old, field).items()
    )


class Use(NamedTuple):
    """Who uses a queue or namespace, and how much they request."""

    what: str
    """the manifests, running pods."""
    total: Amounts
    who: tuple[str, ...]


def queue_effects(
    before: Cluster,
    after: Cluster,
    changes: QueueChanges,
    found: Sequence[Workload],
    pods: Sequence[Manifest],
) -> Iterator[Effect]:
    """Queues that go or become parents while something names them; limits and quotas below what is used."""
    old, new = _by_name(before), _by_name(after)
    names = old.keys() | new.keys()
    by_manifests = _used(found, lambda review: _queue_of(review.manifest, review.pod_set, names))
    for name, use in by_manifests.items():
        s = "s" if len(use.who) == 1 else ""
        if name in changes.gone:
            yield Effect(QUEUE, f"queue {name}", f"is deleted, but {_listed(use)} still name{s} it")
        if name in changes.parents:
            children = listed(changes.parents[name])
            message = f"becomes the parent of {children}, but {_listed(use)} name{s} it"
            yield Effect(QUEUE, f"queue {name}", f"{message}: a queue with children takes no pods")
    for used in (by_manifests, _of_pods(pods, lambda pod, one: _queue_of(pod, one, names))):
        for name, use in used.items():
            if name in old and name in new:
                yield from _lowered(f"queue {name}", QUEUE, "limit", old[name].limit, new[name].limit, use)
    for workload in found:
        review = workload.after
        name = _queue_of(review.manifest, review.pod_set, names) if review else ""
        if name in old and name in new:
            limit = f"the limit of queue {name}"
            yield from _too_large(workload, limit, old[name].limit, new[name].limit)
    by_namespace = _used(found, lambda review: review.manifest.namespace or review.namespace)
    for used in (by_namespace, _of_pods(pods, lambda pod, one: pod.namespace or "default")):
        yield from _quotas(before, after, used)
    known = {(quota.namespace, quota.name): quota for quota in before.quotas}
    lowered: dict[str, list[tuple[Quota, Quota]]] = {}
    for quota in after.quotas:
        if (was := known.get((quota.namespace, quota.name))) and not quota.priorities:
            lowered.setdefault(quota.namespace, []).append((was, quota))
    for workload in found:
        review = workload.after
        for was, quota in lowered.get(review.manifest.namespace or review.namespace, ()) if review else ():
            what = f"quota {quota.namespace}/{quota.name}"
            yield from _too_large(workload, what, was.requests, quota.requests)


def priority_effects(before: Cluster, after: Cluster, found: Sequence[Workload]) -> Iterator[Effect]:
    """PriorityClasses that are deleted while manifests name them."""
    gone = {one.name for one in before.priorities} - {one.name for one in after.priorities}
    by_pods = _used(found, lambda review: text(review.pod_set.spec.get("priorityClassName")))
    by_gangs = _used(found, lambda review: priority_class(review.manifest.data))
    for used, means in (
        (by_pods, "the API server refuses such pods"),
        (by_gangs, "the gang then has no priority"),
    ):
        for name, use in used.items():
            if name in gone:
                s = "s" if len(use.who) == 1 else ""
                message = f"is deleted, but {_listed(use)} name{s} it: {means}"
                yield Effect(PRIORITY, f"PriorityClass {name}", message)


def live_queue_effects(
    queues_there: Iterable[Manifest], before: Cluster, after: Cluster, changes: QueueChanges
) -> Iterator[Effect]:
    """Live queues that go, become parents or fall, with the amounts that are allocated from them."""
    old, new = _by_name(before), _by_name(after)
    for queue in queues_there:
        used = _allocated(queue)
        shown = ", ".join(f"{amount_text(name, used[name])} {name}" for name in sorted(used))
        who = f"queue {queue.name}"
        if not used:
            continue
        if queue.name in changes.gone:
            yield Effect(QUEUE, who, f"is deleted, but {shown} are allocated from it")
        elif queue.name in changes.parents:
            yield Effect(QUEUE, who, f"becomes a parent, but {shown} are allocated from it")
        elif queue.name in old and queue.name in new:
            use = Use("", used, ())
            yield from _lowered(who, QUEUE, "limit", old[queue.name].limit, new[queue.name].limit, use)


def unused(queues_there: Iterable[Manifest], found: Sequence[Workload]) -> frozenset[str]:
    """Live queues without anything allocated that no manifest names."""
    empty = {queue.name for queue in queues_there if not _allocated(queue)}
    named = _used(found, lambda review: _queue_of(review.manifest, review.pod_set, empty))
    return frozenset(empty - named.keys())


def _allocated(queue: Manifest) -> Amounts:
    """Of a Queue, or what all flavors of a ClusterQueue have reserved for workloads."""
    total = dict(amounts(lookup(queue.data, ("status", "allocated"))))
    for flavor in mappings(lookup(queue.data, ("status", "flavorsReservation"))):
        for one in mappings(flavor.get("resources")):
            _add(total, amounts({text(one.get("name")): one.get("total")}), 1)
    return {name: amount for name, amount in total.items() if amount}


def _quotas(before: Cluster, after: Cluster, used: Mapping[str, Use]) -> Iterator[Effect]:
    known = {(quota.namespace, quota.name): quota for quota in before.quotas}
    for quota in after.quotas:
        old = known.get((quota.namespace, quota.name))
        if old is not None and not quota.priorities and quota.namespace in used:
            who = f"quota {quota.namespace}/{quota.name}"
            yield from _lowered(who, QUOTA, "requests", old.requests, quota.requests, used[quota.namespace])


def _lowered(who: str, kind: str, what: str, old: Amounts, new: Amounts, use: Use) -> Iterator[Effect]:
    for resource, most in sorted(new.items()):
        need = use.total.get(resource, 0)
        if most < old.get(resource, most + 1) and most < need:
            now, then = amount_text(resource, most), amount_text(resource, need)
            uses = f"{use.what} request {then}" if use.what else f"{then} are allocated"
            yield Effect(kind, who, f"{what} of {resource} falls to {now}, but {uses}")


def _too_large(workload: Workload, limit: str, old: Amounts, new: Amounts) -> Iterator[Effect]:
    """A single pod that a limit allowed, and allows no longer."""
    for resource, most in sorted(new.items()):
        need = workload.after.requests.get(resource, 0) if workload.after else 0
        if most < need <= old.get(resource, need):
            now, then = amount_text(resource, most), amount_text(resource, need)
            message = f"one pod requests {then} {resource}, but {limit} falls to {now}"
            yield Effect(NOWHERE, workload.title, message, workload.path)
            return


def _used(found: Sequence[Workload], of: Callable[[Review], str]) -> dict[str, Use]:
    totals: dict[str, dict[str, int]] = {}
    who: dict[str, dict[str, None]] = {}
    for workload in found:
        review = workload.after
        if review is not None and (name := of(review)):
            who.setdefault(name, {})[workload.title] = None
            _add(totals.setdefault(name, {}), review.requests, review.pod_set.replicas or 0)
    return {name: Use("the manifests", totals[name], tuple(who[name])) for name in totals}


def _of_pods(pods: Iterable[Manifest], of: Callable[[Manifest, PodSet], str]) -> dict[str, Use]:
    totals: dict[str, dict[str, int]] = {}
    for pod in pods:
        for one in pod_sets(pod.data) if lookup(pod.data, ("status", "phase")) not in DONE else ():
            if name := of(pod, one):
                _add(totals.setdefault(name, {}), effective(one.spec), 1)
    return {name: Use("running pods", total, ()) for name, total in totals.items()}


def _add(total: dict[str, int], more: Amounts, times: int) -> None:
    for resource, amount in more.items():
        total[resource] = total.get(resource, 0) + amount * times


def _queue_of(manifest: Manifest, pod_set: PodSet, names: Iterable[str]) -> str:
    for target in TARGETS:
        written = queues.read(manifest.data, pod_set, target.name) if target.queues else None
        if written is not None:
            last = written.value.rpartition(".")[2]
            return written.value if written.value in names else last if last in names else ""
    return ""


def _listed(use: Use) -> str:
    more = f" and {len(use.who) - 1} more" if len(use.who) > 1 else ""
    return use.who[0] + more
