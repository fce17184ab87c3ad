"""Pods select NodePools of Karpenter whose taints they do not tolerate.

Karpenter creates no node for them, and the nodes that are there refuse them: they stay pending. A startup
taint is removed once the node is ready, and needs no toleration. Nor does a NoSchedule taint whose key is a
resource that the pods request: the admission plugin ExtendedResourceToleration of EKS, AKS and GKE adds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.tolerations import untolerated
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.machine_pools import MachinePool, NodePoolUse
from policykit.model.pool import Taint, Toleration
from policykit.model.severity import Severity

BAD = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: gpu
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints:
      - {key: example.com/gpu, value: "true", effect: NoSchedule}
      requirements:
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [p5]}
---
apiVersion: v1
kind: Pod
metadata:
  name: serve
spec:
  nodeSelector:
    karpenter.sh/nodepool: gpu
  tolerations:
  - {key: example.com/gpu, operator: Equal, value: present, effect: NoSchedule}
  containers:
  - name: main
    image: registry.example/serve:1
    resources:
      requests: {cpu: 8, memory: 64Gi}
      limits: {nvidia.com/gpu: 1}
"""

GOOD = BAD.replace("value: present", 'value: "true"')


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Reported if all NodePools that the pods may use are here, in each of their versions."""
    pools: dict[str, list[tuple[Taint, ...]]] = {}
    for each in scope.of(MachinePool):
        if each.value.kind == "NodePool" and not each.partial:
            pools.setdefault(each.value.name, []).append(each.value.taints)
    for use in scope.of(NodePoolUse):
        value = use.value
        taints = [_untolerated(pools.get(name, []), value.tolerations) for name in value.names]
        if all(taints):
            yield Violation(
                use.at("tolerations"),
                f"the pods select only NodePool {', '.join(value.names)}, but do not tolerate taint "
                f"{taints[0]} of {value.names[0]}",
                "tolerate the taint, or select another NodePool",
            )


def _untolerated(versions: list[tuple[Taint, ...]], tolerations: Sequence[Toleration]) -> Taint | None:
    """A taint that keeps the pods away; None: in one cluster at least there is none, or no such NodePool."""
    found = [untolerated(taints, tolerations) for taints in versions]
    return found[0] if found and all(found) else None


RULE = Rule(
    code="PK143",
    name="node-pool-not-tolerated",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(NodePoolUse,),
)
