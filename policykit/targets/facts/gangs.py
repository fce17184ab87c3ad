"""Facts about gangs other than their size: start order, scheduler and room of their pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.kube import start_order
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.gangs import Gang, gangs
from policykit.kube.podsets.podset import PodSet, title
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import GangScheduler, Membership, PodCreationOrder
from policykit.targets import TARGETS
from policykit.targets.controllers import decides_scheduler, overwrites_scheduler

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_JOBS_WITH_TASKS: Mapping[tuple[str, str], Path] = {
    ("batch.volcano.sh", "Job"): ("spec",),
    ("batch.volcano.sh", "CronJob"): ("spec", "jobTemplate", "spec"),
    ("flow.volcano.sh", "JobTemplate"): ("spec",),
}


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterable[Fact]:
    """One fact for each start order that a gang may wait for; for each template of a gang its scheduler, and
    under a policy its room, if it joins the gang by name."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    memberships = [(one, joined) for one in pod_sets for joined in _memberships(manifest, one, namespace)]
    own = (
        [gang for gang in gangs(manifest.data) if gang.enabled]
        if len(pod_sets) > 1 or _sized(manifest)
        else []
    )
    yield from _orders(manifest, pod_sets, namespace, memberships, own)
    for pod_set, joined in memberships:
        yield _scheduled(manifest, pod_set, joined.target_name, namespace, joined.group, True)
        if context.cluster is not None:
            yield _room(manifest, pod_set, joined, context.cluster, context.namespace)
    for number, gang in enumerate(own):
        yield from _own_gang(manifest, pod_sets, namespace, gang, number)


_OF_OWNERS = frozenset(key.key for each in TARGETS for key in each.keys if key.on_owner)
"""Annotations that an object has for its pods."""


def _sized(manifest: Manifest) -> bool:
    """Whether an annotation of the object states the size of its gang."""
    return not _OF_OWNERS.isdisjoint(manifest.annotations)


def _memberships(manifest: Manifest, pod_set: PodSet, namespace: str) -> Iterator[Membership]:
    for target in TARGETS:
        found = target.read_membership(manifest, pod_set, namespace) if target.read_membership else None
        if found and not is_placeholder(found.membership.group):
            yield found.membership


def _room(manifest: Manifest, pod_set: PodSet, joined: Membership, cluster: Cluster, namespace: str) -> Fact:
    from policykit.placement.capacity import member_room
    from policykit.placement.review import review

    found = member_room(review(manifest, pod_set, cluster, namespace))
    value = found._replace(
        pods=joined.pods, target_name=joined.target_name, namespace=joined.namespace, group=joined.group
    )
    return Fact(value, {}, answers=True)


def _orders(
    manifest: Manifest,
    pod_sets: Sequence[PodSet],
    namespace: str,
    joined: Sequence[tuple[PodSet, Membership]],
    own: Sequence[Gang],
) -> Iterator[Fact]:
    base = _JOBS_WITH_TASKS.get((manifest.group, manifest.kind))
    job = lookup(manifest.data, base) if base else None
    if isinstance(job, dict):
        waiting = start_order.tasks_that_wait(job, base or ())
        if waiting:
            why = "dependsOn makes the pods of a task only once the tasks it names run"
            order = PodCreationOrder("", namespace, "", waiting.first, why, waiting.minimum, waiting.message)
            yield Fact(order, {"order": waiting.path})
        return
    for target_name, group in dict.fromkeys((each.target_name, each.group) for _, each in joined):
        members = [
            (one, each) for one, each in joined if (each.target_name, each.group) == (target_name, group)
        ]
        found = start_order.first(manifest, [one for one, _ in members])
        if found:
            stated = next((each.min_member for _, each in members if each.min_member is not None), None)
            order = PodCreationOrder(target_name, namespace, group, found.pods, found.why, stated)
            yield Fact(order, {"order": found.path})
    found = start_order.first(manifest, pod_sets) if own and not joined else None
    for gang in own if found else ():
        if found and _never_starts(manifest, gang, found.pods):
            order = PodCreationOrder("", namespace, "", found.pods, found.why, gang.min_member)
            yield Fact(order, {"order": found.path})


def _never_starts(manifest: Manifest, gang: Gang, first: int) -> bool:
    if gang.min_member is None or gang.min_member <= first:
        return False
    if manifest.kind == "StatefulSet":
        return gang.written
    # Another rule compares a minimum in the MPIJob itself with its workers.
    return manifest.kind == "MPIJob" and not gang.written and _requests_gang(manifest)


def _requests_gang(manifest: Manifest) -> bool:
    return lookup(manifest.data, ("spec", "runPolicy", "schedulingPolicy")) is not None


def _own_gang(
    manifest: Manifest, pod_sets: Sequence[PodSet], namespace: str, gang: Gang, number: int
) -> Iterator[Fact]:
    members = [one for one in pod_sets if one.name in gang.members]
    if len(members) < 2 or len({one.scheduler_name for one in members}) < 2 or (gang.min_member or 0) < 2:
        return
    for one in members:
        group = f"{manifest.kind} {manifest.name} {number}"
        yield _scheduled(manifest, one, "", namespace, group, gang.written)


def _scheduled(
    manifest: Manifest, pod_set: PodSet, target_name: str, namespace: str, group: str, certain: bool
) -> Fact:
    name = pod_set.scheduler_name
    filled = (not name and decides_scheduler(manifest, name)) or is_placeholder(name)
    what = f"{manifest.kind} {manifest.name}" if target_name else title(manifest.data, pod_set)
    fact = GangScheduler(
        target_name, namespace, group, name, what, filled, certain and not overwrites_scheduler(manifest)
    )
    return Fact(fact, {"scheduler": pod_set.scheduler_path or pod_set.path})
