"""Nodes that Karpenter may create have no room for the pods that select them.

The limits of a NodePool are on what all its nodes have together: where pods that run at the same time request
more, some never get a node. maxPods counts the pods of DaemonSets too, which every node has: where it is no
larger than their number, Karpenter creates no node for any other pod.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from policykit.kube.tolerations import untolerated
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.machine_pools import MachinePool, NodeClassPods, NodeDaemons, NodePoolUse
from policykit.model.pool import Taint, Toleration
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity

BAD = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  limits: {nvidia.com/gpu: 1}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 2
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      nodeSelector:
        karpenter.sh/nodepool: gpu
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          requests: {cpu: 2, memory: 8Gi}
          limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace("limits: {nvidia.com/gpu: 1}\n  template", "limits: {nvidia.com/gpu: 2}\n  template")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controllers/provisioning/scheduling` of Karpenter (0.32 to 1.8)."""
    located = [each for each in scope.of(MachinePool) if not each.partial]
    pools: dict[str, list[MachinePool]] = {}
    for each in located:
        if each.value.kind == "NodePool":
            pools.setdefault(each.value.name, []).append(each.value)
    for use in scope.of(NodePoolUse) if pools else ():
        yield from _beyond_limits(use, pools)
    daemons = Counter(each.value.tolerations for each in scope.of(NodeDaemons) if not each.partial)
    if daemons:
        yield from _full(located, scope.of(NodeClassPods), daemons)


def _beyond_limits(use: LocatedFact[NodePoolUse], pools: dict[str, list[MachinePool]]) -> Iterator[Violation]:
    """Where every NodePool that the pods may use is here, and too small in each of its versions."""
    named = [pools.get(name, []) for name in use.value.names]
    problems = [_problem(pool, use.value) for each in named for pool in each]
    if not all(named) or not all(problems):
        return
    yield Violation(
        use.at("pods"),
        f"{problems[0]}: Karpenter creates no node for the rest",
        "raise the limit of the NodePool, or run fewer pods",
    )


def _problem(pool: MachinePool, use: NodePoolUse) -> str:
    for resource, most in pool.limits.items():
        needed = use.pods * use.requests.get(resource, 0)
        if needed > most:
            who = f"{use.pods} pods request" if use.pods > 1 else "the pod requests"
            return (
                f"{who} {amount_text(resource, needed)} {resource}, but the limit of NodePool {pool.name} is "
                f"{amount_text(resource, most)}"
            )
    return ""


def _full(
    pools: Sequence[LocatedFact[MachinePool]],
    classes: Sequence[LocatedFact[NodeClassPods]],
    daemons: Counter[tuple[Toleration, ...]],
) -> Iterator[Violation]:
    """The pods of the DaemonSets here alone."""
    by_class: dict[str, LocatedFact[NodeClassPods]] = {}
    for each in classes:
        if not each.partial:
            by_class.setdefault(each.value.name, each)
    counts: dict[tuple[Taint, ...], int] = {}
    reported: set[str] = set()
    for pool in pools:
        own = pool.value.max_pods
        stated = pool if own is not None else by_class.get(pool.value.node_class)
        most = own if own is not None else stated.value.max_pods if stated else None
        if stated is None or most is None:
            continue
        taints = pool.value.taints
        if taints not in counts:
            fitting = (number for found, number in daemons.items() if untolerated(taints, found) is None)
            counts[taints] = sum(fitting)
        known = f"{stated.path} {stated.document}"
        if counts[taints] >= most > 0 and known not in reported:
            reported.add(known)
            here = "a DaemonSet here has" if counts[taints] == 1 else f"{counts[taints]} DaemonSets here have"
            yield Violation(
                stated.at("max_pods"),
                f"maxPods is {most}, but {here} a pod on each node of {pool.value.kind} {pool.value.name}: "
                "no other pod has room, and Karpenter creates no node",
                f"write at least {counts[taints] + 1}, and the DaemonSets of the cluster besides",
            )


RULE = Rule(
    code="PK146",
    name="node-pool-room",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(MachinePool, NodeClassPods, NodePoolUse),
)
