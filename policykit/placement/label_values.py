"""Values of a label or taint key in selectors, required terms and tolerations, with their paths."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube import affinity
from policykit.kube.placeholders import is_placeholder
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

REQUIRED_TERMS = ("nodeAffinity", affinity.REQUIRED, "nodeSelectorTerms")
"""Path of the required terms below `affinity`."""


class LabelValue(NamedTuple):
    """One value of a key, and its path."""

    value: str
    path: Path
    selects: bool
    """Selected by nodeSelector or required affinity; otherwise tolerated with operator Equal."""


def label_values(review: Review, key: str) -> tuple[LabelValue, ...]:
    """Values of `key` that a pod selects with In or tolerates individually, without placeholders."""
    return tuple([place for place in _label_values(review, key) if not is_placeholder(place.value)])


def placeholder_uses(review: Review, key: str) -> frozenset[bool]:
    """Whether placeholders for `key` are selected (True), tolerated (False) or both."""
    return frozenset([place.selects for place in _label_values(review, key) if is_placeholder(place.value)])


def _label_values(review: Review, key: str) -> Iterator[LabelValue]:
    pod_set = review.pod_set
    if key in review.affinity.selector:
        yield LabelValue(review.affinity.selector[key], pod_set.place("nodeSelector", key), True)
    for term_at, term in enumerate(review.affinity.required or ()):
        for at, requirement in enumerate(term.expressions):
            if requirement.key == key and requirement.operator == "In":
                for value_at, value in enumerate(requirement.values):
                    path = (*REQUIRED_TERMS, term_at, "matchExpressions", at, "values", value_at)
                    yield LabelValue(value, pod_set.place("affinity", *path), True)
    for at, toleration in enumerate(review.tolerations):
        if toleration.key == key and toleration.operator in ("", "Equal") and toleration.value:
            yield LabelValue(toleration.value, pod_set.place("tolerations", at, "value"), False)
