"""Where a pod names values of a label or taint key: selectors, required terms, tolerations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube import affinity
from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.path import Path
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

REQUIRED = ("nodeAffinity", affinity.REQUIRED, "nodeSelectorTerms")
"""Path of the required terms below `affinity`."""


class Stated(NamedTuple):
    """One value named for a key, and where."""

    value: str
    path: Path
    selects: bool
    """By selector or required affinity; else by an Equal toleration."""


def stated(review: Review, key: str) -> tuple[Stated, ...]:
    """Values of `key` that a pod selects with In, or tolerates one by one; placeholders left out."""
    return tuple(place for place in _stated(review, key) if not is_placeholder(place.value))


def to_be_stated(review: Review, key: str) -> frozenset[bool]:
    """Where the pod leaves a value of `key` to be filled in: where it selects (True), or tolerates."""
    return frozenset(place.selects for place in _stated(review, key) if is_placeholder(place.value))


def _stated(review: Review, key: str) -> Iterator[Stated]:
    pod_set = review.pod_set
    if key in review.affinity.selector:
        yield Stated(review.affinity.selector[key], pod_set.place("nodeSelector", key), True)
    for term_at, term in enumerate(review.affinity.required or ()):
        for at, requirement in enumerate(term.expressions):
            if requirement.key == key and requirement.operator == "In":
                for value_at, value in enumerate(requirement.values):
                    path = (*REQUIRED, term_at, "matchExpressions", at, "values", value_at)
                    yield Stated(value, pod_set.place("affinity", *path), True)
    for at, toleration in enumerate(review.tolerations):
        if toleration.key == key and toleration.operator in ("", "Equal") and toleration.value:
            yield Stated(toleration.value, pod_set.place("tolerations", at, "value"), False)


def known_values(cluster: Cluster, key: str) -> frozenset[str]:
    """Values that labels and taints of the pools have for a key."""
    labels = {
        labels[key]
        for pool in cluster.pools
        for labels in (pool.labels, *(shape.labels for shape in pool.shapes))
        if key in labels
    }
    return frozenset(
        labels | {t.value for pool in cluster.pools for t in pool.taints if t.key == key and t.value}
    )


def known_everywhere(cluster: Cluster, key: str) -> bool:
    """Whether the policy says of every pool if it has the label, and with which value."""
    from policykit.placement.landing import decidable

    return key in cluster.declared_keys and all(
        decidable(cluster, pool, {**pool.labels, **shape.labels}, key)
        for pool in cluster.pools
        for shape in pool.shapes
    )


def other_suffix(value: str, known: frozenset[str]) -> str:
    """The pools' value of the same card under another sharing mode; empty: it is not only the suffix."""
    if value in known:
        return ""
    return next((there for there in sorted(known) if _bare(there) == _bare(value)), "")


def _bare(value: str) -> str:
    return value.removesuffix("-SHARED").partition("-MIG-")[0]
