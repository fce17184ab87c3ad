"""The scheduler of a pod differs from the one the policy assigns to its workload kind.

Two schedulers that place pods of the same kind do not coordinate: gangs are split, queues are
charged for only some of the pods, and both may assign the same resources of a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.severity import Applicability, Severity
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, target_name_of, target_of
from policykit.targets.controllers import assigned_scheduler, decides_scheduler, overrides_scheduler

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

GOOD = BAD.replace(
    "      restartPolicy: Never\n", "      restartPolicy: Never\n      schedulerName: volcano\n"
)


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Ignores kinds whose controller sets schedulerName, and names of no known scheduler (PK122)."""
    cluster, path = review.cluster, review.pod_set.scheduler_path
    wanted = review.workload.scheduler if review.workload else ""
    if cluster is None or path is None or not wanted or review.pod_set.per_node:
        return
    there = review.pod_set.scheduler_name
    if (there or DEFAULT_SCHEDULER) == wanted or is_placeholder(there) or _is_exempt(review, cluster):
        return
    kind = review.workload.name if review.workload else ""
    found = f"schedulerName is {there}" if there else f"no schedulerName is set ({DEFAULT_SCHEDULER})"
    yield Violation(
        path,
        f"{found}, but the policy assigns workload kind {kind} to {wanted}",
        f"write schedulerName: {wanted}, or use another workload kind if this is not {kind}",
        fix=partial(_fix, review, wanted),
    )


def _is_exempt(review: Review, cluster: Cluster) -> bool:
    """Whether the effective name differs from the one in the object, or is not known to be wrong."""
    there = review.pod_set.scheduler_name
    if decides_scheduler(review.manifest, there):
        return True
    if there:
        return bool(cluster.schedulers) and there not in cluster.schedulers
    unknown = review.manifest.partial or review.may_still_change or review.pod_set.stored
    return unknown or _taken_over(review, cluster)


def _taken_over(review: Review, cluster: Cluster) -> bool:
    """Whether an admission controller sets the schedulerName."""
    namespace = review.manifest.namespace or review.namespace
    wanted = review.workload.scheduler if review.workload else ""
    if assigned_scheduler(cluster, review.pod_set, namespace) == wanted:
        return True
    target = target_of(target_name_of(wanted, cluster))
    return target is not None and overrides_scheduler(target, cluster, namespace)


def _fix(review: Review, wanted: str) -> Fix | None:
    from policykit.targets.workloads import field_patches

    patches = field_patches.scheduler_patches(review.pod_set, wanted)
    return Fix(f"write schedulerName: {wanted}", patches) if patches else None


RULE = Rule(
    code="PK121",
    name="wrong-scheduler-for-kind",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
)
