"""A workload can use only some of the pools the policy allows.

Hybrid pools take pods when the dedicated pools are full. A pod that does not tolerate or select
them stays pending although cards are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.placement.label_values import label_values
from policykit.placement.landing import Landing
from policykit.placement.recognition import selected_values
from policykit.placement.review import Review
from policykit.rules.placement.fixes import placement_fix

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
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
      tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
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
    """Reports a pod if some eligible pools accept it, and a taint or its usage selection excludes another."""
    workload = review.workload
    if workload is None or not review.eligible_pools or not review.is_final:
        return
    if not review.card_resources and workload.helpers is None:
        return  # pools without cards may be reserved for something else
    landings = [landing for landing in review.landings if review.is_eligible(landing.pool)]
    open_ = [landing for landing in landings if landing.accepts]
    lost = [landing for landing in landings if _is_excluded(review, landing)]
    if not open_ or not lost:
        return
    pool, detail = lost[0].pool.name, lost[0].detail
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    yield Violation(
        review.pod_set.place("tolerations") if lost[0].taint else _selected(review),
        f"{workload.name} may also use pool {pool}{more}, but cannot land there: {detail}",
        f"tolerate and select the pools {', '.join(each.name for each in review.eligible_pools)},"
        f" or exclude {pool} in the policy",
        fix=partial(placement_fix, review),
    )


def _selected(review: Review) -> Path:
    """Path of the first pair or list of values that selects a usage."""
    key = review.cluster.usage_key if review.cluster else ""
    first = next(place.path for place in label_values(review, key) if place.selects)
    return first if isinstance(first[-1], str) else first[:-1]


def _is_excluded(review: Review, landing: Landing) -> bool:
    if landing.reason == "untolerated-taint":
        return True
    key = review.cluster.usage_key if review.cluster else ""
    usages = selected_values(review.affinity, key)
    return landing.reason in ("selector", "affinity") and bool(usages) and landing.pool.usage not in usages


RULE = Rule(
    code="PK125",
    name="lost-fallback",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.SAFE,
)
