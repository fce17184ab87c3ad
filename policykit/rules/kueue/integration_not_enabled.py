"""A workload names a queue, but Kueue's configuration does not list its kind.

Kueue admits the kinds that integrations.frameworks of its configuration lists, and only those. A workload of
another kind waits suspended for ever if it says suspend, and starts past its queue if it does not. A
LeaderWorkerSet, a Deployment and a StatefulSet need the integration of plain pods beside their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.kueue import EnabledFrameworks, QueuedKind
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kueue-manager-config
  namespace: kueue-system
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    integrations:
      frameworks:
      - batch/job
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  replicatedJobs:
  - name: worker
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            containers:
            - name: main
              image: registry.example/train:1
"""

GOOD = BAD.replace("      - batch/job\n", "      - batch/job\n      - jobset.x-k8s.io/jobset\n")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Where no configuration here lists the kind. Source: `SetupControllers` in pkg/controller/jobframework
    (0.9 to 0.19)."""
    stated = scope.of(EnabledFrameworks)
    listed = {name for each in stated for name in each.value.names}
    external = {tuple(name.split(".")) for each in stated for name in each.value.external}
    outside = {(parts[0], ".".join(parts[2:])) for parts in external if len(parts) > 1}
    if not stated or any(each.partial for each in stated):
        return
    for workload in scope.of(QueuedKind):
        name, kind, group = workload.value
        if name not in listed and (kind, group) not in outside:
            yield Violation(
                workload.at("queue"),
                f"the {kind} names a queue, but integrations.frameworks of Kueue's configuration does not "
                f"list {name}: Kueue does not admit it",
                f"add {name} to the list",
            )


RULE = Rule(
    code="PK936",
    name="integration-not-enabled",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(QueuedKind,),
)
