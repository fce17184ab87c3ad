"""Hard spread constraints that count nodes whose taints repel the pods, or that lack what these request.

Source: PodTopologySpread of kube-scheduler 1.36. Domains that the policy does not declare are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.kube.affinity import NodeAffinity
from policykit.kube.rollouts import adds_first
from policykit.manifests.shape import whole
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Pool

FIELD = "topologySpreadConstraints"
_HOSTNAME = "kubernetes.io/hostname"
_TAINT, _RESOURCES = "untolerated-taint", "resources"
_ROLLOUT = "Rollout"
"""Argo's: its canary or preview runs beside the pods that it replaces."""


class UntoleratedSpread(NamedTuple):
    number: int
    """Of the constraint in its list."""
    message: str
    """What the pods do, as a predicate."""
    help: str
    of_taint: bool
    """Nodes with taints need not be counted."""


def over_untolerated(review: Review) -> Iterator[UntoleratedSpread]:
    """Constraints with domains that no pod can enter, where the others do not take all replicas."""
    cluster, listed = review.cluster, review.pod_set.spec.get(FIELD)
    if cluster is None or not review.is_final or review.pod_set.per_node or not isinstance(listed, list):
        return
    for at, one in enumerate(listed):
        key = one.get("topologyKey") if isinstance(one, dict) else None
        if not isinstance(key, str) or not _hard(one):
            continue
        honored = one.get("nodeTaintsPolicy") not in (None, "Ignore")
        shut = [] if honored else _shut_pools(review, cluster, key, one, _TAINT)
        wanting = [] if shut else _shut_pools(review, cluster, key, one, _RESOURCES)
        if not (shut or wanting) or _has_room(review, key, whole(one.get("maxSkew"))):
            continue
        names = ", ".join(pool.name for pool in shut or wanting)
        landing = review.landing((shut or wanting)[0])
        if shut:
            message = f"spreads by {key} over pool {names}, but does not tolerate taint {landing.taint}"
            help_ = "write nodeTaintsPolicy: Honor, so that only nodes with tolerated taints are counted"
        else:
            message = (
                f"spreads by {key} over pool {names} too, whose nodes lack what the pods request "
                f"({landing.detail}): these domains stay empty, and pods pending"
            )
            help_ = "select the nodes that have it by nodeSelector or affinity: others are then not counted"
        yield UntoleratedSpread(at, message, help_, bool(shut))


def _hard(one: Mapping[str, Any]) -> bool:
    """Whether it selects pods and may keep them waiting; PK131 reports one that selects none."""
    selector = one.get("labelSelector")
    counted = isinstance(selector, dict) and any(selector.values())
    return counted and one.get("whenUnsatisfiable") == "DoNotSchedule"


def _shut_pools(
    review: Review, cluster: Cluster, key: str, one: Mapping[str, Any], reason: str
) -> list[Pool]:
    """Pools with domains that consist only of nodes that refuse the pods for this reason."""
    from policykit.placement.landing import selection

    considered = review.affinity if one.get("nodeAffinityPolicy") != "Ignore" else NodeAffinity()
    entered = [landing.pool for landing in review.landings if landing.verdict != "refused"]
    if not review.accepting or any(_domains(pool, key) is None for pool in entered):
        return []
    open_domains = {domain for pool in entered for domain in _domains(pool, key) or ()}
    return [
        landing.pool
        for landing in review.landings
        if landing.verdict == "refused"
        and landing.reason == reason
        and selection(cluster, landing.pool, considered) is True
        and not (_domains(landing.pool, key) or frozenset()) <= open_domains
    ]


def _has_room(review: Review, key: str, skew: int | None) -> bool:
    """Whether the other domains, with maxSkew pods each, take all replicas, and one more during an update.

    Nodes that an autoscaler may add are not counted.
    """
    replicas, manifest = review.pod_set.replicas, review.manifest
    entered = [landing.pool for landing in review.landings if landing.verdict != "refused"]
    if not replicas or not skew:
        return False
    if key == _HOSTNAME:
        domains = sum(shape.minimum for pool in entered for shape in pool.shapes)
    else:
        domains = len({domain for pool in entered for domain in _domains(pool, key) or ()})
    first = manifest.kind == _ROLLOUT or adds_first(manifest.data, manifest.group, manifest.kind, replicas)
    return replicas + first <= domains * skew


def _domains(pool: Pool, key: str) -> frozenset[str] | None:
    """Values of the label on the pool's nodes; None if the policy does not declare them."""
    shapes = [shape for shape in pool.shapes if shape.maximum != 0]
    if key == _HOSTNAME:
        # Each node is a domain; a pool that may be empty has none for certain.
        return frozenset({pool.name}) if any(shape.minimum > 0 for shape in shapes) else frozenset()
    values = [{**pool.labels, **shape.labels}.get(key) for shape in shapes]
    return None if None in values else frozenset(value for value in values if value is not None)
