"""Every pool of a policy that lists all pools refuses a pod.

The pods need no cards and are of no workload kind, so no pool is meant for them: they stay pending for the
taints and sizes of the nodes they may select, or because no pool has all that they select. Where a policy of
Kyverno or Gatekeeper, a webhook, a colocation profile or a namespace may still change pods, the rule reports
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.selectors import may_meet
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.pod_admission import PodMutation, UnplacedPods
from policykit.model.severity import Severity

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: portal
spec:
  selector:
    matchLabels: {app: portal}
  template:
    metadata:
      labels: {app: portal}
    spec:
      nodeSelector: {example.com/pool: web}
      containers:
      - name: main
        image: registry.example/portal:1
        resources:
          requests: {cpu: 1, memory: 1Gi}
"""

GOOD = BAD.replace(
    "      containers:",
    "      tolerations:\n      - {key: example.com/pool, operator: Equal, value: web, effect: NoSchedule}\n"
    "      containers:",
)


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: the filters that `where` applies."""
    changed: dict[str, list[PodMutation]] = {}
    for each in scope.of(PodMutation):
        changed.setdefault(each.value.namespace, []).append(each.value)
    for pods in scope.of(UnplacedPods):
        here = (*changed.get("", ()), *changed.get(pods.value.namespace, ()))
        if pods.partial or any(may_meet(each.selects, pods.value.labels) for each in here):
            continue
        number = pods.value.pools
        who = f"each of the {number} pools" if number > 1 else "the only pool"
        first, *others = pods.value.reasons
        message = f"{who} refuses the pod ({first})"
        yield Violation(pods.at("pods"), message, "\n".join((*others, _ADVICE)))


_ADVICE = "tolerate the taints of the pools that are meant, or select and request what their nodes have"


RULE = Rule(
    code="PK134",
    name="unplaced-pods",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(UnplacedPods,),
    needs_policy=True,
)
