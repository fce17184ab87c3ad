"""No node can match a nodeSelector or a required node affinity term.

All expressions of a term must hold; a term without expressions matches nothing; Gt and Lt compare
integers only, so `80GB` never matches. A value that no pool has cannot match either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit.catalogue import labels
from policykit.kube import selectors
from policykit.kube.affinity import PREFERRED, Term
from policykit.kube.selectors import Requirement
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.nearest import nearest
from policykit.placement.contradiction import contradiction
from policykit.placement.label_values import REQUIRED_TERMS, is_known_for_every_pool, known_values
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

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

_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_ADVICE = "correct the expression, or remove the term"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """An error if no term can match; a warning if another term still can."""
    unknown = [*_unknown_pairs(review)]
    yield from (_pair_violation(review, key) for key in unknown)
    if review.affinity.selector or review.affinity.required:
        from policykit.rules.placement.node_label_values import impossible_values

        yield from impossible_values(review)
    yield from _refused(review)
    terms = review.affinity.required
    if terms is None:
        return
    if not terms:
        path = review.pod_set.place("affinity", *REQUIRED_TERMS)
        yield Violation(path, "a required node affinity without terms matches no node", _ADVICE)
    selector = review.affinity.selector.items()
    pairs = {key: value for key, value in selector if key not in unknown and not is_placeholder(value)}
    dead = [_impossible_condition(review, pairs, term) for term in terms]
    for at, why in enumerate(dead):
        if why is not None:
            path, message = why
            yield Violation(
                review.pod_set.place("affinity", *REQUIRED_TERMS, at, *path),
                message,
                _ADVICE,
                None if all(dead) else Severity.WARNING,
            )


def _refused(review: Review) -> Iterator[Violation]:
    """The API server validates preferred terms like required ones."""
    for position, preference in enumerate(review.affinity.preferred):
        for at, requirement in enumerate(preference.term.expressions):
            problem = selectors.operands_problem(requirement)
            if problem and requirement.operator in _OPERATORS and not _is_filled_in(requirement):
                path = ("affinity", "nodeAffinity", PREFERRED, position, "preference", "matchExpressions", at)
                yield Violation(
                    review.pod_set.place(*path), f"this expression can never match: {problem}", _ADVICE
                )


def _unknown_pairs(review: Review) -> Iterator[str]:
    """Keys of the nodeSelector whose value no pool has."""
    for key, value in review.affinity.selector.items():
        if review.cluster is not None and _no_pool_has(review, review.cluster, key, (value,)):
            yield key


def _pair_violation(review: Review, key: str) -> Violation:
    value, known = review.affinity.selector[key], _known(review, key)
    return Violation(
        review.pod_set.place("nodeSelector", key),
        f"no pool has {key}={value}: {_there(known)}",
        _closest(known, value),
    )


def _impossible_condition(review: Review, pairs: Mapping[str, str], term: Term) -> tuple[Path, str] | None:
    """(path below the term, message) of the condition that cannot hold; None if a node could match."""
    if not term.expressions and not term.fields:
        return (), "a term without expressions matches no node"
    cluster = review.cluster
    written = [(at, one) for at, one in enumerate(term.expressions) if not _is_filled_in(one)]
    for at, requirement in written:
        path = ("matchExpressions", at)
        problem = selectors.problem(requirement)
        if problem:
            return path, f"this expression can never match: {problem}"
        values = requirement.values
        if (
            cluster is not None
            and requirement.operator == "In"
            and _no_pool_has(review, cluster, requirement.key, values)
        ):
            there = _there(_known(review, requirement.key))
            return (*path, "values"), f"no pool has {requirement.key} in [{', '.join(values)}]: {there}"
    clash = contradiction(pairs, [requirement for _, requirement in written])
    if clash is None:
        return None
    at, earlier = clash
    position, requirement = written[at]
    return ("matchExpressions", position), f"{requirement} and {earlier} can never both hold"


def _is_filled_in(requirement: Requirement) -> bool:
    """Whether a part of it is a placeholder."""
    return any(map(is_placeholder, (requirement.key, requirement.operator, *requirement.values)))


def _no_pool_has(review: Review, cluster: Cluster, key: str, values: Sequence[str]) -> bool:
    """Whether the value of every pool is known for this key of the policy, and is none of these.

    PK106 reports products. If the policy may not list every pool, zones and instance types are
    checked only for pods covered by it.
    """
    if any(key == card.product_key for card in cluster.cards.values()) or not is_known_for_every_pool(
        cluster, key
    ):
        return False
    if any(is_placeholder(value) for value in values):
        return False
    if not review.is_covered and (labels.well_known(key) or labels.provider(key)):
        return False
    return not known_values(cluster, key).intersection(values)


def _known(review: Review, key: str) -> list[str]:
    return sorted(known_values(review.cluster, key)) if review.cluster else []


def _there(known: list[str]) -> str:
    return f"the pools have {', '.join(known)}" if known else "no pool has that label"


def _closest(known: list[str], value: str) -> str:
    near = nearest(value, tuple(known))
    return f"did you mean {near}?" if near else "select a value that a pool has"


RULE = Rule(
    code="PK107",
    name="unsatisfiable-affinity",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    silences_as_error=frozenset({"PK101", "PK110", "PK203"}),
)
