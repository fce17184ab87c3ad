"""The required node affinity of a pod with cards only excludes nodes, or its terms exclude none.

NotIn and DoesNotExist match every node without the label, including nodes added later. Several terms are
ORed: a node that one of them excludes is matched by another that excludes different values, or by another
label.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import labels
from policykit.kube.affinity import Term
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.label_values import REQUIRED_TERMS
from policykit.placement.review import Review

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: example.com/pool, operator: NotIn, values: [web]}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""

GOOD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: example.com/pool, operator: In, values: [training]}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


_NEGATIVE = frozenset({"NotIn", "DoesNotExist"})
_VIRTUAL = frozenset({"virtual-kubelet"})
"""Values that mark virtual nodes, which pods with cards legitimately exclude."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports a pod if every expression is negative, except those that exclude single nodes or zones."""
    terms = review.affinity.required
    if terms and len(terms) > 1 and (keys := _alternatives(terms)):
        yield Violation(
            review.pod_set.place("affinity", *REQUIRED_TERMS, 1, "matchExpressions", 0),
            f"the terms are ORed, so a node that {keys[0]} excludes is matched by the term of {keys[1]}: "
            "only nodes that every term excludes stay out",
            "write all expressions into one term",
        )
        return
    if terms and _excludes_nothing(terms):
        key = terms[0].expressions[0].key
        yield Violation(
            review.pod_set.place("affinity", *REQUIRED_TERMS, 1, "matchExpressions", 0),
            f"the terms are ORed, so {len(terms)} of {key} NotIn with different values exclude no node",
            "write one expression with all values, or all expressions into one term",
        )
        return
    if not review.card_resources or review.affinity.selector or not terms or review.is_system_pod:
        return
    expressions = [requirement for term in terms for requirement in term.expressions]
    if any(term.fields for term in terms) or not expressions:
        return
    if any(
        r.operator not in _NEGATIVE or labels.well_known(r.key) or labels.provider(r.key) for r in expressions
    ):
        return
    if any(value in _VIRTUAL for r in expressions for value in r.values):
        return
    term_at = next(at for at, term in enumerate(terms) if term.expressions)
    first = terms[term_at].expressions[0]
    yield Violation(
        review.pod_set.place("affinity", *REQUIRED_TERMS, term_at, "matchExpressions", 0),
        f"the required affinity only excludes nodes ({first.key} {first.operator}): every node"
        " without the label matches",
        "select nodes with operator In, or rely on the card request and the taints",
    )


def _alternatives(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """Keys of terms of which each excludes nodes by one key alone, if the keys differ."""
    alone = [term.expressions[0] for term in terms if len(term.expressions) == 1 and not term.fields]
    if len(alone) < len(terms) or any(each.operator not in _NEGATIVE for each in alone):
        return ()
    keys = tuple(dict.fromkeys(each.key for each in alone))
    return keys if len(keys) > 1 and not any(map(is_placeholder, keys)) else ()


def _excludes_nothing(terms: tuple[Term, ...]) -> bool:
    """Whether every value that a term excludes is left in by another."""
    alone = [term.expressions[0] for term in terms if len(term.expressions) == 1 and not term.fields]
    if len(alone) < len(terms) or len(terms) < 2:
        return False
    if len({each.key for each in alone}) > 1 or any(each.operator != "NotIn" for each in alone):
        return False
    values = [frozenset(each.values) for each in alone]
    filled = any(is_placeholder(value) for each in values for value in each)
    return not filled and not frozenset.intersection(*values)


RULE = Rule(
    code="PK117",
    name="negative-only-selection",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("ffinity", "odeSelectorTerm"),
)
