"""Pods go to a scheduler that needs the name of their queue, and name none.

KAI-Scheduler reads the queue from a label of the pod or of the object that makes it. Without the label it
takes a default queue, which exists only if somebody made it; else the pods stay pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.owner import owner
from policykit.placement.review import Review
from policykit.targets.kai import QUEUE, SCHEDULER

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  schedulerName: kai-scheduler
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
"""

GOOD = BAD.replace("  name: train\n", "  name: train\n  labels: {kai.scheduler/queue: research}\n", 1)

_FORMER = "runai/queue"
"""Another rule says that current releases do not read it."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Neither the pods nor their object have the label."""
    pod_set, manifest = review.pod_set, review.manifest
    if pod_set.scheduler_name != SCHEDULER or manifest.partial or pod_set.stored:
        return
    labels = {**manifest.labels, **owner(manifest, pod_set).labels, **pod_set.labels}
    if QUEUE not in labels and _FORMER not in labels:
        yield Violation(
            pod_set.scheduler_path or pod_set.path,
            f"{SCHEDULER} places the pods, but no label {QUEUE} names their queue",
            f"add the label {QUEUE} to the pods or to the {manifest.kind}",
        )


RULE = Rule(
    code="PK413",
    name="queue-not-named",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(SCHEDULER,),
)
