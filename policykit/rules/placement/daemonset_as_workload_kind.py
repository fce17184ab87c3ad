"""A DaemonSet that needs no card is kept to the pools of a workload kind.

A DaemonSet serves its nodes: a log agent, an exporter, a network plugin. With the node affinity of a
workload kind it leaves all other nodes, and nothing reports that. Components that releases before
0.2 generated did this to every DaemonSet of the kustomization that includes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.review import Review

BAD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: log-agent
spec:
  selector:
    matchLabels: {app: log-agent}
  template:
    metadata:
      labels: {app: log-agent, policykit.io/workload: training}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
      tolerations:
      - {operator: Exists}
      containers:
      - name: agent
        image: registry.example/log-agent:1
"""
GOOD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: log-agent
spec:
  selector:
    matchLabels: {app: log-agent}
  template:
    metadata:
      labels: {app: log-agent}
    spec:
      tolerations:
      - {operator: Exists}
      containers:
      - name: agent
        image: registry.example/log-agent:1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports DaemonSets whose pods are labelled by a workload kind and whose affinity refuses pools."""
    pod_set = review.pod_set
    kind = pod_set.labels.get(WORKLOAD_KEY, "")
    if not pod_set.per_node or not kind or review.card_resources or review.affinity.required is None:
        return
    left = [landing.pool.name for landing in review.landings if landing.reason == "affinity"]
    if left:
        pools = f"pools {', '.join(left)}" if len(left) > 1 else f"pool {left[0]}"
        yield Violation(
            pod_set.place("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
            f"this DaemonSet needs no card, but affinity of workload kind {kind} keeps it off {pools}",
            f"remove the affinity and the label {WORKLOAD_KEY}; if a generated component adds them, run "
            "`policykit gen`",
            key=True,
        )


RULE = Rule(
    code="PK141",
    name="daemonset-as-workload-kind",
    severity=Severity.WARNING,
    subject=Review,
    substrings=("policykit.io/workload",),
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
