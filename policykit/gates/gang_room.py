"""Whether the pools, when they are empty, hold a whole gang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit.kube.podsets import Gang, gangs, pod_sets
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.pool import Pool
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import largest_domain, pods_in
from policykit.placement.review import Review, review
from policykit.targets import TARGETS

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class _Members(NamedTuple):
    review: Review
    pools: tuple[Pool, ...]
    room: int | None
    """How many of its pods fit into empty pools; None: unknown or unlimited."""
    level: str = ""
    """The level of the topology that limits them to one domain; empty: none does."""


class GangShortage(NamedTuple):
    """A gang that is larger than what the pools hold."""

    gang: Gang
    path: Path
    """Where its size stands, else the first of its pods that are limited."""
    most: int
    """Pods that fit."""
    message: str


def shortages(manifest: Manifest, cluster: Cluster, namespace: str) -> Iterator[GangShortage]:
    """Gangs that an object makes of its own pods, against empty pools."""
    found = [gang for gang in gangs(manifest.data) if gang.enabled and (gang.min_member or 0) > 1]
    if manifest.partial or not found:
        return
    sets = pod_sets(manifest.data)
    bounded = _states_topology(manifest)
    for gang in found:
        members = [
            _members(bounded, review(manifest, s, cluster, namespace)) for s in sets if s.name in gang.members
        ]
        if members and all(one.review.is_final and not one.review.selects_unlisted_pool for one in members):
            yield from _check_gang(gang, members)


def _states_topology(manifest: Manifest) -> bool:
    """Whether it names the level of its own gang: gang-topology judges that."""
    for target in TARGETS:
        paths = target.gang_topology.load() if target.gang_topology else {}
        path = paths.get((manifest.group, manifest.kind))
        if path is not None and lookup(manifest.data, path) is not None:
            return True
    return False


def _members(bounded: bool, pod_review: Review) -> _Members:
    pools = tuple(landing.pool for landing in pod_review.landings if landing.verdict != "refused")
    cluster = pod_review.cluster
    closed = cluster is not None and (cluster.complete or bool(pod_review.card_resources))
    if not closed or any(pool.autoscaled and any(s.maximum is None for s in pool.shapes) for pool in pools):
        return _Members(pod_review, pools, None)
    room = pods_in((s for pool in pools for s in pool.shapes), pod_review.requests)
    domain = None if bounded else largest_domain(pod_review, pools)
    if domain is not None and (room is None or domain.pods < room):
        return _Members(pod_review, pools, domain.pods, domain.level)
    return _Members(pod_review, pools, room)


def _check_gang(gang: Gang, members: Sequence[_Members]) -> Iterator[GangShortage]:
    """The most members that fit: each part by itself, and identical parts together."""
    minimum = gang.min_member or 0
    most = 0
    for group in _alike(members):
        wanted = [one.review.pod_set.replicas for one in group]
        room = group[0].room
        if room == 0 or (room is None and None in wanted):
            return  # not even one pod fits, which other rules report; or nothing is known
        pods = None if None in wanted else sum(number or 0 for number in wanted)
        most += min(number for number in (pods, room) if number is not None)
    if most < minimum:
        tight = next((one for one in members if one.room is not None), None)
        if tight is not None:
            alike = next(group for group in _alike(members) if tight in group)
            yield _shortage(gang, alike, len(members), minimum, most)


def _alike(members: Sequence[_Members]) -> list[list[_Members]]:
    """Parts whose pods request the same and may use the same pools compete for the same nodes."""
    groups: list[list[_Members]] = []
    for one in members:
        for group in groups:
            same = group[0].review.requests == one.review.requests
            if same and [p.name for p in group[0].pools] == [p.name for p in one.pools]:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _shortage(gang: Gang, alike: Sequence[_Members], parts: int, minimum: int, most: int) -> GangShortage:
    """`alike`: the parts of the gang for which there is too little room, of so many `parts`."""
    tight = alike[0]
    pod_review = tight.review
    asked = ", ".join(f"{amount_text(r, pod_review.requests[r])} {r}" for r in pod_review.card_resources)
    each = f" of {asked} each" if asked else ""
    if asked and len(alike) < parts:
        pods = [one.review.pod_set.replicas for one in alike]
        count = "some" if None in pods else str(sum(number or 0 for number in pods))
        each = f" ({count} of them with {asked} each)"
    names = ", ".join(pool.name for pool in tight.pools)
    where = f"the empty pools ({names}) hold"
    if tight.level:
        where = f"its pods must stay within one {tight.level}, and the largest of pools {names} holds"
    path: Path = gang.path if gang.written else pod_review.pod_set.path
    message = f"the gang needs {minimum} pods{each} at once, but {where} only {most}"
    return GangShortage(gang, path, most, message)
