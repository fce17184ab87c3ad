"""One node selector term admits pools that another term excludes.

The terms of a required node affinity are alternatives: a node needs to match only one of them.
A condition that must always hold has to be in every term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.affinity import NodeAffinity, Term
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.label_values import REQUIRED_TERMS
from policykit.placement.landing import selection
from policykit.placement.review import Review

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  template:
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      schedulerName: volcano
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
              - matchExpressions:
                  - {key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-H20]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
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
    metadata:
      labels:
        policykit.io/workload: training
    spec:
      restartPolicy: Never
      schedulerName: volcano
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
      containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each term that admits an accepting, ineligible pool that another term does not admit."""
    cluster, terms = review.cluster, review.affinity.required
    if cluster is None or not review.eligible_pools or terms is None or len(terms) < 2:
        return
    if any(map(is_placeholder, _texts(terms))):
        return
    outside = [pool for pool in review.accepting if not review.is_eligible(pool)]
    alone = [NodeAffinity(review.affinity.selector, (term,)) for term in terms]
    # A label that the policy does not declare excludes none of the accepting pools.
    admitted = [[p.name for p in outside if selection(cluster, p, one) is not False] for one in alone]
    for position, names in enumerate(admitted):
        excluded = [n for n in names if any(n not in others for others in admitted)]
        if excluded:
            yield Violation(
                review.pod_set.place("affinity", *REQUIRED_TERMS, position),
                f"this term admits pool {excluded[0]}, which another term excludes:"
                " a node needs to match only one term",
                "put the conditions into one term, so that all of them must hold",
            )


def _texts(terms: Sequence[Term]) -> Iterator[str]:
    for term in terms:
        for one in term.expressions:
            yield from (one.key, one.operator, *one.values)


RULE = Rule(
    code="PK109",
    name="leaking-or-term",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    silences=frozenset({"PK101", "PK110"}),
)
