"""The members of a PodGroup need more than all the nodes they may run on.

Pods that join a PodGroup by name start only when `minMember` of them fit at the same time, each on one node.
With fewer they wait forever, however empty the pools are. The pods may be those of several objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates.gang_room import group_shortages
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.gang import PodGroup
from policykit.model.severity import Severity

BAD = """\
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 400
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 400
  completions: 400
  template:
    metadata:
      labels:
        pod-group.scheduling.sigs.k8s.io: train
    spec:
      schedulerName: koord-scheduler
      restartPolicy: Never
      tolerations:
      - operator: Exists
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          limits:
            nvidia.com/gpu: 8
"""

GOOD = BAD.replace("400", "2")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: Coscheduling's and Volcano's plugin gang, which count the members that fit at once."""
    for short in group_shortages(scope, context.cluster) if context.cluster else ():
        yield Violation(
            short.group.at("min_member"),
            short.message,
            f"lower minMember to {short.most} if the job can run with that, allow more pools, or request "
            "less per pod",
        )


RULE = Rule(
    code="PK313",
    name="group-exceeds-pools",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(PodGroup,),
    needs_policy=True,
)
