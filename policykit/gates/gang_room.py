"""Whether the pools, when they are empty, hold a whole gang."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from policykit.kube.gang_units import all_at_once, goes_on_with_fewer, has_own_domain
from policykit.kube.podsets import Gang, gangs, pod_sets
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import MemberRoom, PodGroup
from policykit.model.pod_admission import PodMutation
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import member_room
from policykit.placement.owner import is_gated_or_suspended, owner
from policykit.placement.review import review
from policykit.targets import TARGETS
from policykit.targets.pool_capacity import capacity

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class GangShortage(NamedTuple):
    """A gang that is larger than what the pools hold."""

    gang: Gang
    path: Path
    """Where the size is set; without one, the first of the limited pods."""
    most: int
    """Pods that fit."""
    message: str


class GroupShortage(NamedTuple):
    """A PodGroup whose members, which join it by name, need more than what the pools hold."""

    group: LocatedFact[PodGroup]
    most: int
    """Pods that fit."""
    message: str


class UnstatedShortage(NamedTuple):
    """Pods of one job that wait for each other without a gang, and need more than what the pools hold."""

    path: Path
    """The first of the limited pods."""
    message: str


class _Lack(NamedTuple):
    most: int
    tight: MemberRoom
    """The first part with too little room."""
    message: str


def shortages(manifest: Manifest, cluster: Cluster, namespace: str) -> Iterator[GangShortage]:
    """Gangs that an object makes of its own pods, against empty pools."""
    found = [gang for gang in gangs(manifest.data) if gang.enabled and (gang.min_member or 0) > 1]
    if manifest.partial or not found:
        return
    sets = pod_sets(manifest.data)
    bounded = _states_topology(manifest)
    for gang in found:
        own = [one for one in sets if one.name in gang.members]
        members = [member_room(review(manifest, one, cluster, namespace), bounded=bounded) for one in own]
        lack = _lack(gang.min_member or 0, members) or _crowded(gang.min_member or 0, members, cluster)
        if lack:
            at = next(n for n, one in enumerate(members) if one is lack.tight)
            path: Path = gang.path if gang.written else own[at].path
            yield GangShortage(gang, path, lack.most, lack.message)


def unstated_shortage(manifest: Manifest, cluster: Cluster, namespace: str) -> UnstatedShortage | None:
    """Of a job of Kubeflow, or an Indexed one, whose pods wait for each other at start."""
    if manifest.partial or manifest.group not in _TRAINING or not cluster.complete:
        return None
    sets = [one for one in pod_sets(manifest.data) if not one.stored]
    waiting = all_at_once(manifest) or any(one.synchronous for one in sets)
    if not waiting or goes_on_with_fewer(manifest) or has_own_domain(manifest):
        return None
    if any(is_gated_or_suspended(owner(manifest, one), one) for one in sets):
        return None
    if any(gang.enabled and (gang.min_member or 0) > 1 for gang in gangs(manifest.data)):
        return None
    pods = [one.replicas for one in sets]
    total = 0 if None in pods else sum(number or 0 for number in pods)
    members = [member_room(review(manifest, one, cluster, namespace), bounded=True) for one in sets]
    if not any(one.asked for one in members):
        return None
    lack = _lack(total, members) or _crowded(total, members, cluster)
    if lack is None:
        return None
    at = next(n for n, one in enumerate(members) if one is lack.tight)
    return UnstatedShortage(sets[at].path, lack.message.replace("the gang needs", "the job needs", 1))


_TRAINING = frozenset({"batch", "kubeflow.org"})


def group_shortages(scope: Scope, cluster: Cluster) -> Iterator[GroupShortage]:
    """PodGroups whose members are all known, against empty pools."""
    changed = {each.value.namespace for each in scope.of(PodMutation)}
    if not scope.complete or "" in changed:
        return
    scaled = {each.value[:3] for each in scope.autoscalers}
    members: dict[tuple[str, ...], list[MemberRoom]] = {}
    for each in scope.of(MemberRoom):
        one = each.value
        grows = (one.namespace, each.resource.kind, each.resource.name) in scaled
        key = (one.target_name, one.namespace, one.group)
        members.setdefault(key, []).append(one._replace(pods=None) if grows else one)
    groups: dict[tuple[str, ...], list[LocatedFact[PodGroup]]] = {}
    for group in scope.groups:
        groups.setdefault(group.value[:3], []).append(group)
    for name, (group, *others) in groups.items():
        joined, minimum = members.get(name, []), group.value.min_member or 0
        pods = [one.pods for one in joined]
        too_few = None not in pods and sum(number or 0 for number in pods) < minimum  # whatever the room
        foreign = any(one.policy != cluster.name for one in joined)
        if others or too_few or foreign or group.value.namespace in changed or scope.may_hold(name[2]):
            continue
        lack = _lack(minimum, joined)
        if lack:
            yield GroupShortage(group, lack.most, lack.message)


def _states_topology(manifest: Manifest) -> bool:
    """Whether it names the level of its own gang: gang-topology judges that."""
    paths = _topology_paths().get((manifest.group, manifest.kind), ())
    return any(lookup(manifest.data, path) is not None for path in paths)


@cache
def _topology_paths() -> Mapping[tuple[str, str], list[Path]]:
    """Of a kind the fields of all systems for it."""
    found: dict[tuple[str, str], list[Path]] = {}
    for target in TARGETS:
        for kind, path in (target.gang_topology.load() if target.gang_topology else {}).items():
            found.setdefault(kind, []).append(path)
    return found


def _lack(minimum: int, members: Sequence[MemberRoom]) -> _Lack | None:
    """The most members that fit: each part by itself, and alike parts together. None: enough, or unknown."""
    if minimum < 2 or not members or not all(one.certain for one in members):
        return None
    most = 0
    alike = _alike(members)
    for group in alike:
        wanted = [one.pods for one in group]
        room = group[0].room
        if room == 0 or (room is None and None in wanted):
            return None  # not even one pod fits, which other rules report; or nothing is known
        pods = None if None in wanted else sum(number or 0 for number in wanted)
        most += min(number for number in (pods, room) if number is not None)
    tight = next((one for one in members if one.room is not None), None)
    if most >= minimum or tight is None:
        return None
    group = next(group for group in alike if any(one is tight for one in group))
    return _Lack(most, tight, _message(group, len(members), minimum, most))


def _crowded(minimum: int, members: Sequence[MemberRoom], cluster: Cluster) -> _Lack | None:
    """A resource of which all pods together need more than their pools have; None: enough, or unknown."""
    pods = [one.pods or 0 for one in members]
    known = all(one.certain and one.pods is not None and one.room for one in members)
    if minimum < 2 or not known or sum(pods) != minimum:
        return None
    for resource in sorted({name for one in members for name in one.request}):
        asking = [one for one in members if one.request.get(resource, 0) > 0]
        names = dict.fromkeys(name for one in asking for name in one.pools)
        there = capacity(cluster, names, resource)
        needed = sum((one.pods or 0) * one.request[resource] for one in asking)
        if there is None or needed <= there:
            continue
        left, most = there, minimum - sum(one.pods or 0 for one in asking)
        for one in sorted(asking, key=lambda each: each.request[resource]):
            fitting = min(one.pods or 0, left // one.request[resource])
            left, most = left - fitting * one.request[resource], most + fitting
        message = (
            f"the gang needs {minimum} pods with {amount_text(resource, needed)} {resource} in all at once, "
            f"but the empty pools ({', '.join(names)}) have only {amount_text(resource, there)}"
        )
        return _Lack(most, asking[0], message)
    return None


def _alike(members: Sequence[MemberRoom]) -> list[list[MemberRoom]]:
    """Parts whose pods request the same and may use the same pools compete for the same nodes."""
    groups: dict[tuple[object, ...], list[MemberRoom]] = {}
    for one in members:
        groups.setdefault((frozenset(one.request.items()), one.pools), []).append(one)
    return [*groups.values()]


def _message(alike: Sequence[MemberRoom], parts: int, minimum: int, most: int) -> str:
    """`alike`: the parts of the gang for which there is too little room, of so many `parts`."""
    tight = alike[0]
    each = f" of {tight.asked} each" if tight.asked else ""
    if tight.asked and len(alike) < parts:
        pods = [one.pods for one in alike]
        count = "some" if None in pods else str(sum(number or 0 for number in pods))
        each = f" ({count} of them with {tight.asked} each)"
    names = ", ".join(tight.pools)
    where = f"the empty pools ({names}) hold"
    if tight.level:
        where = f"its pods must stay within one {tight.level}, and the largest of pools {names} holds"
    return f"the gang needs {minimum} pods{each} at once, but {where} only {most}"
