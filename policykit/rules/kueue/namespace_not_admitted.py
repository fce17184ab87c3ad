"""A ClusterQueue does not select the namespace of a LocalQueue.

Kueue admits a workload only if the namespaceSelector of its ClusterQueue selects its namespace. Without one
no namespace is selected; an empty one, {}, selects all. Labels are compared with those of Namespaces that
are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.selectors import Requirement, unmet
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.kueue import DeclaredClusterQueue, DeclaredLocalQueue, DeclaredNamespace
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
    """Source: `pkg/scheduler/scheduler.go` (0.9 to 0.19)."""
    queues = {
        each.value.name: each.value
        for each in scope.of(DeclaredClusterQueue)
        if not (each.partial or each.as_written)
    }
    namespaces: dict[str, list[LocatedFact[DeclaredNamespace]]] = {}
    for each in scope.of(DeclaredNamespace):
        namespaces.setdefault(each.value.name, []).append(each)
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
        elif lacking := _lacking(namespaces.get(namespace, ()), queue):
            message = f"selects namespaces with {lacking}, unlike {namespace}: it admits nothing from here"
            advice = f"label Namespace {namespace}, or let the namespaceSelector select it"
        else:
            continue
        yield Violation(local.at("cluster_queue"), f"ClusterQueue {queue.name} {message}", advice)


def _lacking(named: Sequence[LocatedFact[DeclaredNamespace]], queue: DeclaredClusterQueue) -> str:
    """What the selector demands that no Namespace of the name has; empty: nothing, or none is here."""
    if not named or any(each.partial or each.as_written for each in named):
        return ""
    return unmet((Requirement(*each) for each in queue.selector), [each.value.labels for each in named])


RULE = Rule(
    code="PK934",
    name="namespace-not-admitted",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredLocalQueue,),
)
