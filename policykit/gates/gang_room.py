"""Whether the pools, when they are empty, hold a whole gang."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from policykit.kube.podsets import Gang, gangs, pod_sets
from policykit.linter.scope import LocatedFact, Scope
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import MemberRoom, PodGroup
from policykit.model.pod_admission import PodMutation
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import member_room
from policykit.placement.review import review
from policykit.targets import TARGETS

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
        lack = _lack(gang.min_member or 0, members)
        if lack:
            at = next(n for n, one in enumerate(members) if one is lack.tight)
            path: Path = gang.path if gang.written else own[at].path
            yield GangShortage(gang, path, lack.most, lack.message)


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
