"""A gang is larger than all the nodes it may run on, or than the rack it must stay in.

A gang starts only when all members fit at the same time. A member cannot use what is left over on
several nodes, so each node counts by itself: two nodes of 8 cards take two pods of 6. Where the policy
keeps the pods of a job within one rack (`within`, hard), only the nodes of the largest one count. The pods of
a training job wait for each other without a gang as well: some of them start, and the job does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit.gates.gang_room import shortages, unstated_shortage
from policykit.kube import requests
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.targets.pool_capacity import total_capacity

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 400
  tasks:
  - name: worker
    replicas: 400
    template:
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
              nvidia.com/gpu: 8
"""

GOOD = BAD.replace("400", "2")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Gangs that an object makes of its own pods, against empty pools."""
    for short in shortages(manifest, context.cluster, context.namespace) if context.cluster else ():
        yield Violation(
            short.path,
            short.message,
            f"lower the gang to {short.most} if the job can run with that, allow more pools, or request "
            "less per pod",
        )
    if context.cluster is None:
        return
    short_job = unstated_shortage(manifest, context.cluster, context.namespace)
    if short_job is not None:
        yield Violation(
            short_job.path,
            short_job.message,
            "run fewer pods, request less per pod, or allow more pools: the others stay pending",
            Severity.WARNING,
        )
    yield from _stated(manifest, context.cluster)


_STATED: Mapping[tuple[str, str], Path] = {
    ("scheduling.volcano.sh", "PodGroup"): ("spec", "minResources"),
    ("sparkoperator.k8s.io", "SparkApplication"): ("spec", "batchSchedulerOptions", "resources"),
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): (
        "spec",
        "template",
        "batchSchedulerOptions",
        "resources",
    ),
}
"""Where a kind states the least resources of the whole gang, which must be there before a pod starts."""


def _stated(manifest: Manifest, cluster: Cluster) -> Iterator[Violation]:
    """The first resource of which all pools hold less. Source: Volcano's plugin overcommit (1.8 to 1.15)."""
    path = _STATED.get((manifest.group, manifest.kind))
    if path is None or not cluster.complete:
        return
    there = total_capacity(cluster)
    for resource, asked in sorted(requests.amounts(lookup(manifest.data, path)).items()):
        if asked > there.get(resource, asked):
            yield Violation(
                (*path, resource),
                f"the gang needs {amount_text(resource, asked)} {resource} at once, but all pools together "
                f"have {amount_text(resource, there[resource])}",
                "state what the pods request in all, or make the gang smaller",
            )
            return


RULE = Rule(
    code="PK304",
    name="gang-exceeds-pools",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
