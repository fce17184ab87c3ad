"""Pods that must not share a domain of the topology, against the domains that the pools have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube import selectors
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, pairs
from policykit.model.pool import Pool
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NARROWED = ("namespaceSelector", "namespaces", "matchLabelKeys", "mismatchLabelKeys")
"""Fields with which a term may not select all pods of the same template."""


class Separation(NamedTuple):
    """Replicas that required anti-affinity keeps apart."""

    key: str
    path: Path
    """Of the topology key, in the object."""
    replicas: int
    domains: int
    """Of the pools that may take the pods."""


def separations(review: Review) -> Iterator[Separation]:
    """Each term that selects the pods of its own template, where the domains are known."""
    replicas, cluster = review.pod_set.replicas, review.cluster
    if not replicas or cluster is None or not cluster.complete or review.pod_set.per_node:
        return
    if not review.is_final or review.pod_set.stored or review.selects_unlisted_pool:
        return
    pools = [each.pool for each in review.landings if each.verdict != "refused"]
    for key, path in _own_terms(review.pod_set):
        found = domains(pools, key)
        if found:
            yield Separation(key, path, replicas, found)


def domains(pools: list[Pool], key: str) -> int | None:
    """Nodes, or values of a label that every node has; None: unknown, or without a limit."""
    shapes = [(pool, shape) for pool in pools for shape in pool.shapes]
    if key == HOSTNAME:
        sizes = [shape.maximum for _, shape in shapes]
        return None if None in sizes else sum(size or 0 for size in sizes)
    values = {shape.labels.get(key) or pool.labels.get(key) for pool, shape in shapes}
    return None if None in values else len(values)


def _own_terms(pod_set: PodSet) -> Iterator[tuple[str, Path]]:
    """Topology key and path of each required term that selects the pods of this template."""
    terms = mapping(mapping(pod_set.spec.get("affinity")).get("podAntiAffinity")).get(_REQUIRED)
    for at, term in enumerate(terms if isinstance(terms, list) else ()):
        one = mapping(term)
        key = one.get("topologyKey")
        if isinstance(key, str) and key and not is_placeholder(key) and _selects(one, pod_set):
            yield key, pod_set.place("affinity", "podAntiAffinity", _REQUIRED, at, "topologyKey")


def _selects(term: Mapping[str, Any], pod_set: PodSet) -> bool:
    selector = mapping(term.get("labelSelector"))
    wanted = pairs(selector.get("matchLabels"))
    expressions = selectors.read_all(selector.get("matchExpressions"))
    if not selector or any(term.get(field) for field in _NARROWED):
        return False
    own = all(pod_set.labels.get(key) == value for key, value in wanted.items())
    return own and all(
        not selectors.problem(each) and selectors.matches(each, pod_set.labels) for each in expressions
    )


def what(key: str) -> str:
    """What there is a number of, for display."""
    return "nodes" if key == HOSTNAME else f"values of {key}"
