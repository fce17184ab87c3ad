"""The required node affinity of a pod with cards only excludes nodes.

NotIn and DoesNotExist match every node without the label, including nodes added later.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import labels
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
