"""Topology keys that the placement of pods rests on, and pods that must not share a domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policykit.catalogue import labels
from policykit.kube import selectors
from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.gang_units import exclusive_topologies
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.selectors import Requirement
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, pairs, whole
from policykit.model.pool import Amounts, Pool
from policykit.namedtuple import NamedTuple
from policykit.placement.capacity import pods_in_domain, pods_on
from policykit.placement.landing import selection
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.manifests.document import Manifest
    from policykit.model.cluster import Cluster

HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NARROWED = ("namespaceSelector", "namespaces", "matchLabelKeys", "mismatchLabelKeys")
"""Fields with which a term may not select all pods of the same template."""


class Separation(NamedTuple):
    """Replicas that a constraint keeps apart or together, and how many of them the pools have room for."""

    path: Path
    """Of what constrains them, in the object."""
    replicas: int
    room: int
    cause: str
    """What constrains them, for display."""
    limit: str
    """What the pools have, for display."""
    apart: bool = True
    """One for each domain: a new pod needs one more."""


def separations(review: Review, domain_annotations: Iterable[str] = ()) -> Iterator[Separation]:
    """Each constraint that concerns all pods of the template, where the domains are known.

    `domain_annotations`: names of annotations of pods whose value is the key of a domain that all must share.
    Source: the plugins InterPodAffinity, NodePorts and PodTopologySpread (v1.36).
    """
    replicas, cluster = review.pod_set.replicas, review.cluster
    if not replicas or cluster is None or not cluster.complete or review.pod_set.per_node:
        return
    if review.pod_set.stored or review.selects_unlisted_pool:
        return
    offering = [
        pool for pool in cluster.pools if all(name in pool.resources for name in review.card_resources)
    ]
    for key, path, name in _annotated(review.pod_set, domain_annotations):
        yield from _together(review, offering, key, path, name)  # admission may yet add selectors
    if not review.is_final:
        return
    selected = review.possible_pools
    pools = [_large_enough(pool, review.requests) for pool in selected]
    for key, path in _own_terms(review.pod_set, "podAntiAffinity"):
        if found := domains(pools, key):
            cause = f"anti-affinity keeps {replicas} pods apart"
            yield Separation(path, replicas, found, cause, _there(found, key))
    for port, path in _host_ports(review.pod_set):
        if found := domains(pools, HOSTNAME):
            cause = f"host port {port} keeps {replicas} pods apart"
            yield Separation(path, replicas, found, cause, _there(found, HOSTNAME))
    yield from _too_few_to_spread(review.pod_set, selected, replicas)
    for key, path in _own_terms(review.pod_set, "podAffinity"):
        yield from _together(review, pools, key, path, "required affinity")


def _together(review: Review, pools: list[Pool], key: str, path: Path, by: str) -> Iterator[Separation]:
    replicas, room = review.pod_set.replicas or 0, _largest(review, pools, key)
    if room:
        one = "node" if key == HOSTNAME else f"value of {key}"
        cause = f"{by} keeps {replicas} pods within one {one}"
        yield Separation(path, replicas, room, cause, f"the largest has room for {room}", apart=False)


def _large_enough(pool: Pool, requests: Amounts) -> Pool:
    """The pool without nodes that are too small for one pod."""
    return pool._replace(shapes=tuple(shape for shape in pool.shapes if pods_on(shape, requests) != 0))


def domains(pools: Iterable[Pool], key: str) -> int | None:
    """Nodes, or values of a label that every node has; None: unknown, or without a limit."""
    if key == HOSTNAME:
        sizes = [shape.maximum for pool in pools for shape in pool.shapes]
        return None if None in sizes else sum(size or 0 for size in sizes)
    values = label_values(pools, key)
    return None if None in values else len(values)


def label_values(pools: Iterable[Pool], key: str) -> set[str | None]:
    """Those that nodes have; None: some do not have the label, as far as is known."""
    return {shape.labels.get(key) or pool.labels.get(key) for pool in pools for shape in pool.shapes}


def _largest(review: Review, pools: list[Pool], key: str) -> int | None:
    """The most of the pods that one domain takes; None: unknown."""
    if key != HOSTNAME:
        return pods_in_domain(pools, key, review.requests)
    room = [pods_on(shape, review.requests) for pool in pools for shape in pool.shapes]
    return None if None in room else max((each or 0 for each in room), default=None)


def _there(found: int, key: str) -> str:
    what = "node" if key == HOSTNAME else "value"
    of = "" if key == HOSTNAME else f" of {key}"
    return f"the pools that take the pods have {found} {what}{'' if found == 1 else 's'}{of}"


def _too_few_to_spread(pod_set: PodSet, pools: Iterable[Pool], replicas: int) -> Iterator[Separation]:
    """With fewer domains than minDomains each takes only maxSkew pods: the least is then counted as none."""
    listed = pod_set.spec.get("topologySpreadConstraints")
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        stated = mapping(one)
        key, least, skew = (
            stated.get("topologyKey"),
            whole(stated.get("minDomains")),
            whole(stated.get("maxSkew")),
        )
        if not isinstance(key, str) or not least or not skew or not selects_own(stated, pod_set):
            continue
        found = domains(pools, key) if stated.get("whenUnsatisfiable") == "DoNotSchedule" else None
        if found and found < least:
            path = pod_set.place("topologySpreadConstraints", at, "minDomains")
            limit = f"{_there(found, key)}, so that each takes at most {skew} of the {replicas} pods"
            yield Separation(path, replicas, found * skew, f"minDomains is {least}", limit, apart=False)


def _host_ports(pod_set: PodSet) -> Iterator[tuple[int, Path]]:
    """The first port of the node that each pod takes; on the host's network every port is one."""
    of_host = pod_set.spec.get("hostNetwork") is True
    containers = pod_set.spec.get("containers")
    for number, container in enumerate(containers if isinstance(containers, list) else ()):
        ports = mapping(container).get("ports")
        for at, port in enumerate(ports if isinstance(ports, list) else ()):
            field = "hostPort" if "hostPort" in mapping(port) or not of_host else "containerPort"
            taken = whole(mapping(port).get(field))
            if taken:
                yield taken, pod_set.place("containers", number, "ports", at, field)
                return


def _annotated(pod_set: PodSet, names: Iterable[str]) -> list[tuple[str, Path, str]]:
    return [
        (key, pod_set.place("annotations", name), name)
        for name in names
        if (key := pod_set.annotations.get(name)) and not is_placeholder(key)
    ]


def _own_terms(pod_set: PodSet, field: str) -> Iterator[tuple[str, Path]]:
    """Topology key and path of each required term that selects the pods of this template."""
    terms = mapping(mapping(pod_set.spec.get("affinity")).get(field)).get(_REQUIRED)
    for at, term in enumerate(terms if isinstance(terms, list) else ()):
        one = mapping(term)
        key = one.get("topologyKey")
        if isinstance(key, str) and key and not is_placeholder(key) and selects_own(one, pod_set):
            yield key, pod_set.place("affinity", field, _REQUIRED, at, "topologyKey")


def apart_on_nodes(pod_set: PodSet) -> str:
    """What keeps each pod of a template on a node without another one, for display; empty: nothing does."""
    if any(key == HOSTNAME for key, _ in _own_terms(pod_set, "podAntiAffinity")):
        return "anti-affinity keeps the pods on different nodes"
    port = next((port for port, _ in _host_ports(pod_set)), None)
    return f"host port {port} keeps the pods on different nodes" if port else ""


def selects_own(term: Mapping[str, Any], pod_set: PodSet) -> bool:
    """Whether the labelSelector of a term selects the pods of the same template."""
    selector = mapping(term.get("labelSelector"))
    wanted = pairs(selector.get("matchLabels"))
    expressions = selectors.read_all(selector.get("matchExpressions"))
    if not selector or any(term.get(field) for field in _NARROWED):
        return False
    own = all(pod_set.labels.get(key) == value for key, value in wanted.items())
    return own and all(
        not selectors.problem(each) and selectors.matches(each, pod_set.labels) for each in expressions
    )


SPREAD, SOFT_SPREAD, AFFINITY, ANTI_AFFINITY, EXCLUSIVE = (
    "spread",
    "soft spread",
    "affinity",
    "anti-affinity",
    "exclusive",
)
HOLDS = frozenset({SPREAD, AFFINITY, EXCLUSIVE})
"""Pods stay pending where no node has the key."""
_OF_CLOUDS = frozenset(
    {
        "beta.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)


class TopologyUse(NamedTuple):
    """A topology key, and what depends on it."""

    key: str
    use: str
    path: Path
    """Of the key, in the object."""


def topology_uses(manifest: Manifest, pod_set: PodSet) -> Iterator[TopologyUse]:
    """Of the pods of one template; what an annotation of the object says comes with each."""
    listed = pod_set.spec.get("topologySpreadConstraints")
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        use = SPREAD if mapping(one).get("whenUnsatisfiable") == "DoNotSchedule" else SOFT_SPREAD
        yield from _use(one, use, pod_set.place("topologySpreadConstraints", at, "topologyKey"))
    affinity = mapping(pod_set.spec.get("affinity"))
    for field, use in (("podAffinity", AFFINITY), ("podAntiAffinity", ANTI_AFFINITY)):
        terms = mapping(affinity.get(field)).get(_REQUIRED)
        for at, one in enumerate(terms if isinstance(terms, list) else ()):
            yield from _use(one, use, pod_set.place("affinity", field, _REQUIRED, at, "topologyKey"))
    for path, key in exclusive_topologies(manifest):
        yield TopologyUse(key, EXCLUSIVE, path)


def _use(written: Any, use: str, path: Path) -> Iterator[TopologyUse]:
    key = mapping(written).get("topologyKey")
    if isinstance(key, str) and key and not is_placeholder(key):
        yield TopologyUse(key, use, path)


def _is_on_pool(cluster: Cluster, key: str) -> bool:
    return any(key in labels_of for labels_of in _labels(cluster))


def is_there(cluster: Cluster, key: str) -> bool:
    """Whether the policy has the label on a pool, or declares it."""
    return key in cluster.declared_keys or _is_on_pool(cluster, key)


def is_absent(cluster: Cluster, key: str) -> bool:
    """Whether no node has the label, as far as the policy tells.

    Zones, regions and instance types are labels of a provider: without one, nobody sets them.
    """
    if _is_on_pool(cluster, key):
        return False
    if cluster.observed:
        return True
    if not cluster.complete or key in cluster.declared_keys or not cluster.pools:
        return False
    if key in _OF_CLOUDS:
        return not cluster.provider
    if provider := labels.provider(key):
        # A policy that declares labels of a provider declares those that matter.
        return not cluster.provider and provider in map(labels.provider, cluster.declared_keys)
    return not (labels.well_known(key) or labels.discovery(key) or labels.switch(key))


def lacking(review: Review, key: str) -> tuple[str, ...]:
    """Names of the pools that take the pods, if the label is on nodes of others only; empty: it is not so, or
    not known."""
    cluster = review.cluster
    closed = cluster is not None and cluster.complete and review.is_final and not review.selects_unlisted_pool
    if cluster is None or not closed or key == HOSTNAME:
        return ()
    if not _is_on_pool(cluster, key):
        return ()
    wanted = NodeAffinity(required=(Term((Requirement(key, "Exists"),)),))
    taking = review.possible_pools
    without = [pool.name for pool in taking if selection(cluster, pool, wanted) is False]
    return tuple(without) if len(without) == len(taking) else ()


def is_of_clouds(key: str) -> bool:
    """Whether a provider sets it."""
    return key in _OF_CLOUDS or bool(labels.provider(key))


def _labels(cluster: Cluster) -> Iterator[Mapping[str, str]]:
    for pool in cluster.pools:
        yield pool.labels
        yield from (shape.labels for shape in pool.shapes)
