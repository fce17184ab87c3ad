"""A gang or a single pod requests more than its queue may ever use.

All members of a gang are admitted together or not at all. Above the limit of its queue, or of a queue
above that, the gang waits forever, no matter how empty the cluster is; so does a single pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates.limits import Queues
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.declared_queues import QueueUse
from policykit.model.gang import TaskGroups
from policykit.model.severity import Severity

BAD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  capability:
    nvidia.com/gpu: 16
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  queue: research
  minAvailable: 4
  tasks:
  - name: worker
    replicas: 4
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 8
"""

GOOD = BAD.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 32")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """The least that each gang or pod requests, against every limit from its queue up."""
    queues = Queues(scope, context.cluster)
    for use in (*scope.of(QueueUse), *_applications(scope)):
        excess = None if use.partial else queues.excess(use.value)
        if excess:
            gang = "workload" if use.value.whole else "gang"
            smaller = f"make the {gang} smaller" if (use.value.gang or 0) > 1 else "request less per pod"
            yield Violation(
                use.at("queue"),
                excess.message,
                f"raise the limit of the queue, choose another queue, or {smaller}",
            )


def _applications(scope: Scope) -> Iterator[LocatedFact[QueueUse]]:
    """Those whose task groups start at once, or not at all."""
    for one in scope.of(TaskGroups):
        value = one.value
        if value.queue and value.pods and not is_placeholder(value.queue):
            use = QueueUse(
                value.target_name, value.namespace, value.queue, gang=value.pods, request=value.request
            )
            yield LocatedFact(use, one.path, one.document, one.resource, one.fields, one.partial)


RULE = Rule(
    code="PK305",
    name="gang-exceeds-queue",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueueUse, TaskGroups),
)
