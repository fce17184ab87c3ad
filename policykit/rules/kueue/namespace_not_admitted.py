"""A ClusterQueue does not select the namespace of a LocalQueue.

Kueue admits a workload only if the namespaceSelector of its ClusterQueue selects its namespace. Without one
no namespace is selected; an empty one, {}, selects all.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.kueue import DeclaredClusterQueue, DeclaredLocalQueue
from policykit.model.severity import Severity

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector:
    matchLabels: {kubernetes.io/metadata.name: team-b}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: any
      resources:
      - {name: cpu, nominalQuota: 64}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: research
  namespace: team-a
spec:
  clusterQueue: research
"""

GOOD = BAD.replace("team-b", "team-a")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """By names of namespaces alone. Source: `pkg/scheduler/scheduler.go` (0.9 to 0.19)."""
    queues = {
        each.value.name: each.value
        for each in scope.of(DeclaredClusterQueue)
        if not (each.partial or each.as_written)
    }
    for local in scope.of(DeclaredLocalQueue):
        queue, namespace = queues.get(local.value.cluster_queue), local.value.namespace
        if queue is None or local.partial or is_placeholder(namespace):
            continue
        allowed = queue.names_allowed
        if allowed is not None and not allowed:
            message, advice = "has no namespaceSelector: it admits nothing", "write namespaceSelector: {}"
        elif not local.resource.namespace:
            continue
        elif (allowed is not None and namespace not in allowed) or namespace in queue.names_refused:
            if any(map(is_placeholder, (*(allowed or ()), *queue.names_refused))):
                continue
            message = f"does not select namespace {namespace}: it admits nothing from this LocalQueue"
            advice = f"let the namespaceSelector of the ClusterQueue select {namespace}"
        else:
            continue
        yield Violation(local.at("cluster_queue"), f"ClusterQueue {queue.name} {message}", advice)


RULE = Rule(
    code="PK934",
    name="namespace-not-admitted",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
