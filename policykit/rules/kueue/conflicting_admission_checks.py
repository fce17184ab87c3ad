"""A ClusterQueue has admission checks that exclude each other.

MultiKueue sends the workloads of a queue to other clusters. Kueue then leaves the queue inactive, and
admits nothing, if a second check of MultiKueue is there, if the check is of some flavors only, or, since
0.16, if a check of ProvisioningRequests asks for nodes in this cluster. Before, those nodes stay empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.kueue import DeclaredAdmissionCheck, DeclaredClusterQueue
from policykit.model.severity import Severity
from policykit.targets.kueue.names import MULTIKUEUE

BAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  name: other-clusters
spec:
  controllerName: kueue.x-k8s.io/multikueue
  parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: clusters}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata:
  name: nodes
spec:
  controllerName: kueue.x-k8s.io/provisioning-request
  parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: nodes}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: research
spec:
  namespaceSelector: {}
  admissionChecksStrategy:
    admissionChecks:
    - name: other-clusters
    - name: nodes
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: any
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 8
"""

GOOD = BAD.replace("    - name: nodes\n", "")

_NODES = "kueue.x-k8s.io/provisioning-request"


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """By the controllers of the checks here. Source: `pkg/cache/scheduler/clusterqueue.go` (0.9 to 0.19)."""
    named: dict[str, list[DeclaredAdmissionCheck]] = {}
    for one in scope.of(DeclaredAdmissionCheck):
        named.setdefault(one.value.name, []).append(one.value)
    controllers = {name: found[0].controller for name, found in named.items() if len(found) == 1}
    for queue in scope.of(DeclaredClusterQueue):
        if not queue.partial:
            yield from _queue(queue, controllers)


def _queue(queue: LocatedFact[DeclaredClusterQueue], controllers: dict[str, str]) -> Iterator[Violation]:
    checks = queue.value.checks
    by = {
        owner: [at for at, name in enumerate(checks) if controllers.get(name) == owner]
        for owner in (MULTIKUEUE, _NODES)
    }
    away = by[MULTIKUEUE]
    if not away:
        return
    first = checks[away[0]]
    fault = f"ClusterQueue {queue.value.name} is inactive and admits nothing"
    if len({checks[at] for at in away}) > 1:
        second = away[1]
        yield Violation(
            queue.at(f"check.{second}"),
            f"{first} and {checks[second]} are both checks of MultiKueue: {fault}",
            "keep one of them",
        )
    elif first in queue.value.flavor_checks:
        yield Violation(
            queue.at(f"check.{away[0]}"),
            f"{first}, a check of MultiKueue, is of some flavors only: {fault}",
            "delete onFlavors: MultiKueue sends whole workloads",
        )
    elif by[_NODES]:
        at = by[_NODES][0]
        yield Violation(
            queue.at(f"check.{at}"),
            f"{checks[at]} (provisioning-request) asks for nodes here, for workloads that {first} "
            "(multikueue) sends to other clusters",
            f"ask for the nodes in the clusters that run the workloads; since Kueue 0.16 {fault}",
        )


RULE = Rule(
    code="PK935",
    name="conflicting-admission-checks",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredClusterQueue,),
)
