"""Values of a label or taint key in selectors, terms and tolerations, and terms that no value satisfies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube import affinity
from policykit.kube.placeholders import is_placeholder
from policykit.kube.selectors import Requirement, int64, matches
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review


def contradiction(
    selector: Mapping[str, str], expressions: Sequence[Requirement]
) -> tuple[int, Requirement] | None:
    """(position, earlier condition) of the first expression that contradicts the ones before it.

    The pairs of a nodeSelector apply to every term, so they come first. Invalid expressions are not
    checked here.
    """
    conditions = {key: [Requirement(key, "In", (value,))] for key, value in selector.items()}
    for at, expression in enumerate(expressions):
        earlier = conditions.setdefault(expression.key, [])
        if not _possible([*earlier, expression]) and earlier:
            alone = (one for one in earlier if not _possible([one, expression]))
            return at, next(alone, earlier[-1])
        earlier.append(expression)
    return None


def _possible(conditions: Sequence[Requirement]) -> bool:
    """Whether a node can satisfy all these conditions on one key."""
    absent = [one for one in conditions if one.operator == "DoesNotExist"]
    if absent:
        return all(one.operator in ("DoesNotExist", "NotIn") for one in conditions)
    for one in conditions:
        if one.operator == "In":
            return any(all(matches(c, {one.key: value}) for c in conditions) for value in one.values)
    above = [n for one in conditions if one.operator == "Gt" for n in _operand(one)]
    below = [n for one in conditions if one.operator == "Lt" for n in _operand(one)]
    return not above or not below or min(below) - max(above) > 1


def _operand(condition: Requirement) -> list[int]:
    number = int64(condition.values[0]) if condition.values else None
    return [] if number is None else [number]


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
