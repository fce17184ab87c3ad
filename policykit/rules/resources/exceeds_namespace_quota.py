"""A gang, or a single pod, asks for more than the quota of its namespace allows.

The API server refuses each pod above a ResourceQuota. A gang whose quota is smaller than the pods that must
start together never starts, while its first pods hold their part. A container above a LimitRange is refused
as well, and so is a pod that does not state what a quota counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates import quotas
from policykit.gates.quotas import Excess
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.namespace_limits import DeclaredQuota, DeclaredRange, Demand
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: ResourceQuota
metadata:
  name: team
  namespace: team-a
spec:
  hard:
    requests.nvidia.com/gpu: 4
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
  namespace: team-a
spec:
  minAvailable: 6
  tasks:
  - name: worker
    replicas: 6
    template:
      spec:
        restartPolicy: OnFailure
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 1
"""

GOOD = BAD.replace("gpu: 4", "gpu: 6")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Gangs where they stand; single pods at the quota or LimitRange, once for each of its amounts."""
    known = quotas.declared(scope, context.cluster)
    ranges = quotas.ranges_of(scope)
    named = {(each.namespace, each.name) for each in known if each.stated_namespace}
    said: set[tuple[str, str, str]] = set()
    for demand in scope.of(Demand) if known or ranges else ():
        excess = quotas.quota_excess(demand.value, known) or quotas.range_excess(demand.value, ranges)
        if excess is None or demand.partial:
            continue
        severity = _severity(
            demand.value, (demand.value.namespace, excess.quota) in named or excess.container
        )
        if demand.value.pods > 1:
            message = f"{demand.value.what} {excess.message}"
            yield Violation(demand.at("request"), message, _GANG, severity)
        elif (key := (demand.value.namespace, excess.quota, excess.key)) not in said:
            said.add(key)
            yield from _of_a_pod(scope, demand.value, excess, severity)


_GANG = "raise the quota, or make the gang smaller: the pods above the quota are never created"
_POD = "raise the amount, or request less per pod: the API server refuses the pod"


def _severity(demand: Demand, stated: bool) -> Severity | None:
    """Objects without a namespace may be applied to different ones."""
    return None if demand.stated_namespace and stated else Severity.WARNING


def _of_a_pod(scope: Scope, demand: Demand, excess: Excess, severity: Severity | None) -> Iterator[Violation]:
    """At what refuses the pod."""
    message = f"{demand.what} {excess.message}"
    if excess.container:
        for limits in _named(scope.of(DeclaredRange), demand.namespace, excess.quota):
            yield Violation(limits.at("name"), message, _POD, severity)
            return
    for quota in _named(scope.of(DeclaredQuota), demand.namespace, excess.quota):
        if f"hard.{excess.key}" in quota.fields:
            yield Violation(quota.at(f"hard.{excess.key}"), message, _POD, severity)
            return


def _named(
    facts: tuple[LocatedFact[DeclaredQuota], ...] | tuple[LocatedFact[DeclaredRange], ...],
    namespace: str,
    name: str,
) -> Iterator[LocatedFact[DeclaredQuota] | LocatedFact[DeclaredRange]]:
    yield from (each for each in facts if (each.value.namespace, each.value.name) == (namespace, name))


RULE = Rule(
    code="PK215",
    name="exceeds-namespace-quota",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
