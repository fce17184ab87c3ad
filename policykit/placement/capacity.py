"""How many pods fit on empty nodes, and whether a gang fits into one domain of the topology."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.model.cluster import Cluster
from policykit.model.gang import MemberRoom
from policykit.model.pool import Amounts, Pool, Shape
from policykit.model.quantity import amount_text
from policykit.model.topology import Level
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

_PODS = "pods"


def pods_on(shape: Shape, request: Amounts) -> int | None:
    """Pods that fit on one node; None if its size is unknown."""
    counts: list[int] = []
    for resource, amount in request.items():
        if amount <= 0:
            continue
        if resource not in shape.allocatable:
            if "/" in resource:
                return None
            continue  # undeclared cpu or memory is not a limit here
        counts.append(shape.allocatable[resource] // amount)
    if _PODS in shape.allocatable:
        counts.append(shape.allocatable[_PODS])  # whatever they request
    return min(counts) if counts else None


def pods_in(shapes: Iterable[Shape], request: Amounts) -> int | None:
    """Pods that fit on all nodes of these shapes; None if there is no limit or it is unknown."""
    total = 0
    for shape in shapes:
        each = pods_on(shape, request)
        if each is None or shape.maximum is None:
            return None
        total += each * shape.maximum
    return total


def pods_in_domain(pools: Iterable[Pool], key: str, request: Amounts) -> int | None:
    """Pods that fit on the nodes of the largest domain, which are those with one value of label `key`.

    None if the domain or the size of a node is unknown.
    """
    domains: dict[str, int] = {}
    for pool in pools:
        for shape in pool.shapes:
            value = shape.labels.get(key) or pool.labels.get(key)
            pods = pods_in((shape,), request)
            if value is None or pods is None:
                return None
            domains[value] = domains.get(value, 0) + pods
    return max(domains.values(), default=None)


class Domain(NamedTuple):
    """The largest domain of a level."""

    level: str
    pods: int
    """Number of pods it can hold."""


def required_level(cluster: Cluster, workload: WorkloadKind | None) -> Level | None:
    """The level whose domains the pods of a kind must not span; None if there is none."""
    if workload is None or workload.within is None or not workload.within.hard:
        return None
    return next((level for level in cluster.levels if level.name == workload.within.level), None)


def largest_domain(review: Review, pools: Iterable[Pool]) -> Domain | None:
    """The largest domain available to pods that must share one; None: not required, or size unknown."""
    cluster = review.cluster
    level = required_level(cluster, review.workload) if cluster is not None else None
    if level is None or not review.card_resources:
        return None
    pods = pods_in_domain(pools, level.key, review.requests)
    return None if pods is None else Domain(level.name, pods)


def member_room(review: Review, *, bounded: bool = False) -> MemberRoom:
    """The room for pods that start together. `bounded`: the object itself names the level of its gang."""
    pools = review.possible_pools
    cluster = review.cluster
    found = MemberRoom(
        cluster.name if cluster else "",
        review.pod_set.replicas,
        review.requests,
        ", ".join(f"{amount_text(name, review.requests[name])} {name}" for name in review.card_resources),
        tuple(pool.name for pool in pools),
        None,
        certain=review.is_final and not review.selects_unlisted_pool,
    )
    closed = cluster is not None and (cluster.complete or bool(review.card_resources))
    if not closed or any(pool.autoscaled and any(s.maximum is None for s in pool.shapes) for pool in pools):
        return found
    room = pods_in((s for pool in pools for s in pool.shapes), review.requests)
    domain = None if bounded else largest_domain(review, pools)
    if domain is not None and (room is None or domain.pods < room):
        return found._replace(room=domain.pods, level=domain.level)
    return found._replace(room=room)


def gang_problem(review: Review) -> str:
    """Why a gang fits into no domain of its required level; empty if it may fit."""
    size = _size(review)
    domain = largest_domain(review, review.eligible_pools or ()) if size else None
    if domain is None or not size or size <= domain.pods:
        return ""
    return (
        f"the gang of {size} pods must stay within one {domain.level}, but the largest holds {domain.pods}: "
        "it never starts"
    )


def request_limit(cluster: Cluster, workload: WorkloadKind, pools: Iterable[Pool]) -> str:
    """The most each pod of a gang may request for the gang to fit into one domain; empty: no limit below
    a whole node, or unknown."""
    level, rule = required_level(cluster, workload), workload.gang_rule
    size = rule.size if rule else None
    listed = [pool for pool in pools if pool.card]
    if level is None or not size:
        return ""
    for resource in sorted({name for pool in listed for name in pool.resources}):
        offering = [pool for pool in listed if resource in pool.resources]
        node = max((s.allocatable.get(resource, 0) for pool in offering for s in pool.shapes), default=0)
        most = _largest_request(offering, level.key, resource, node, size)
        if most is not None and most < node:
            if not most:
                return f"a gang of {size} pods with {resource} fits into no {level.name}: it never starts"
            at_most = f"if each requests at most {most} {resource}"
            return f"a gang of {size} pods fits into one {level.name} only {at_most}: a node has {node}"
    return ""


def _largest_request(pools: list[Pool], key: str, resource: str, node: int, size: int) -> int | None:
    """The largest request per pod with which `size` pods fit into one domain; None if unknown."""
    fits, most = 0, node
    while fits < most:
        amount = (fits + most + 1) // 2
        pods = pods_in_domain(pools, key, {resource: amount})
        if pods is None:
            return None
        fits, most = (amount, most) if pods >= size else (fits, amount - 1)
    return fits


def _size(review: Review) -> int | None:
    """Pods of this pod set that start together; None: no gang, or not known."""
    workload, replicas = review.workload, review.pod_set.replicas
    if workload is None or workload.gang != "all" or replicas is None:
        return None
    rule = workload.gang_rule
    return min((rule.size if rule else None) or replicas, replicas)
