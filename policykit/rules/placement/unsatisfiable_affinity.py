"""A required node affinity term, or a nodeSelector, that no node can ever match.

Expressions of one term must all hold; a term without expressions matches nothing; Gt and Lt
compare whole numbers only, so `80GB` never passes. A value that no pool carries ends the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube import selectors
from policykit.kube.affinity import Term
from policykit.kube.selectors import Requirement
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.placement.landing import decidable
from policykit.placement.review import Review
from policykit.placement.stated import REQUIRED, known_values

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: nvidia.com/gpu.memory, operator: Gt, values: [80GB]}
  containers:
    - name: main
      image: registry.example/train:1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: nvidia.com/gpu.memory, operator: Gt, values: ["80000"]}
  containers:
    - name: main
      image: registry.example/train:1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """An error where every term is dead, a warning where another one still matches."""
    yield from _selector(review)
    terms = review.affinity.required
    if not terms:
        return
    dead = [_dead(review.cluster, term) for term in terms]
    for at, why in enumerate(dead):
        if why is not None:
            path, message = why
            yield Violation(
                review.pod_set.place("affinity", *REQUIRED, at, *path),
                message,
                "mend the expression, or remove the term",
                None if all(dead) else Severity.WARNING,
            )


def _selector(review: Review) -> Iterator[Violation]:
    cluster = review.cluster
    for key, value in review.affinity.selector.items():
        if cluster is not None and _carried_by_none(cluster, key, (value,)):
            yield Violation(
                review.pod_set.place("nodeSelector", key),
                f"no pool has {key}={value}: {_there(cluster, key)}",
                _closest(cluster, key, value),
            )


def _dead(cluster: Cluster | None, term: Term) -> tuple[Path, str] | None:
    """(path below the term, message) of what kills it; None: a node could match."""
    if not term.expressions and not term.fields:
        return (), "a term without expressions matches no node"
    for at, requirement in enumerate(term.expressions):
        path = ("matchExpressions", at)
        problem = selectors.problem(requirement)
        if problem:
            return path, f"this expression can never match: {problem}"
        if (
            cluster is not None
            and requirement.operator == "In"
            and _carried_by_none(cluster, requirement.key, requirement.values)
        ):
            asked = ", ".join(requirement.values)
            return path, f"no pool has {requirement.key} in [{asked}]: {_there(cluster, requirement.key)}"
    clash = _contradiction(term.expressions)
    return (("matchExpressions", clash[0]), clash[1]) if clash else None


def _carried_by_none(cluster: Cluster, key: str, values: Sequence[str]) -> bool:
    """An owned key of which every pool's value is known, and is none of these.

    Products are PK106's.
    """
    if any(key == card.product_key for card in cluster.cards.values()) or key not in cluster.declared_keys:
        return False
    if not all(decidable(cluster, p, {**p.labels, **s.labels}, key) for p in cluster.pools for s in p.shapes):
        return False
    return not known_values(cluster, key).intersection(values)


def _there(cluster: Cluster, key: str) -> str:
    values = sorted(known_values(cluster, key))
    return f"the pools have {', '.join(values)}" if values else "no pool has that label"


def _closest(cluster: Cluster, key: str, value: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(value, sorted(known_values(cluster, key)), n=1)
    return f"did you mean {near[0]}?" if near else "select a value that a pool has"


def _contradiction(expressions: Sequence[Requirement]) -> tuple[int, str] | None:
    """(index, message) of the first expression that contradicts an earlier one of its key."""
    allowed: dict[str, frozenset[str]] = {}
    absent: set[str] = set()
    present: set[str] = set()
    for at, requirement in enumerate(expressions):
        key, operator, values = requirement.key, requirement.operator, frozenset(requirement.values)
        if operator == "DoesNotExist":
            absent.add(key)
        elif operator != "NotIn":
            present.add(key)
        if operator == "In":
            allowed[key] = allowed.get(key, values) & values
        elif operator == "NotIn" and key in allowed:
            allowed[key] = allowed[key] - values
        if key in absent and key in present:
            return at, f"{key} must exist and must not exist in one term"
        if key in allowed and not allowed[key]:
            return at, f"the expressions of {key} in this term leave no value"
    return _late_exclusion(expressions, allowed)


def _late_exclusion(
    expressions: Sequence[Requirement], allowed: dict[str, frozenset[str]]
) -> tuple[int, str] | None:
    """NotIn that stands before the In it empties."""
    for at, requirement in enumerate(expressions):
        left = allowed.get(requirement.key)
        if requirement.operator == "NotIn" and left and not left - frozenset(requirement.values):
            return at, f"the expressions of {requirement.key} in this term leave no value"
    return None


RULE = Rule(
    code="PK107",
    name="unsatisfiable-affinity",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    silences=frozenset({"PK101", "PK110", "PK203"}),
)
