"""A workload tolerates the taint of the control plane.

The taint keeps workloads off the nodes that run the cluster itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.tolerations import tolerates
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.review import Review
from policykit.rules.placement.fixes import removal_patches

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
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
        - {key: maip.mxsf.io/control-plane, operator: Exists, effect: NoSchedule}
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
    """Reports tolerations that name the key; PK112 reports tolerations of every taint."""
    taint = review.cluster.control_plane_taint if review.cluster else None
    if taint is None or review.workload is None or review.is_system_pod:
        return
    for position, toleration in enumerate(review.tolerations):
        if toleration.key == taint.key and tolerates(toleration, taint):
            yield Violation(
                review.pod_set.place("tolerations", position),
                f"the pod is of workload kind {review.workload.name},"
                f" but it tolerates the control plane's taint {taint}",
                "remove this toleration",
                fix=partial(_fix, review, position),
            )


def _fix(review: Review, position: int) -> Fix | None:
    patches = removal_patches(review, [position])
    return Fix("remove this toleration", patches) if patches else None


RULE = Rule(
    code="PK113",
    name="control-plane-toleration",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
