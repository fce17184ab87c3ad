"""The pod security standard of their namespace forbids pods.

With the label `pod-security.kubernetes.io/enforce` a namespace takes only pods of the standard that it names.
Baseline and restricted forbid volumes of the node (hostPath), its network, processes and ports, privileged
containers, and capabilities such as IPC_LOCK and SYS_ADMIN. Device plugins, drivers and exporters of metrics
need some of these, and so do pods with RDMA. The API server refuses the pods; their Deployment or DaemonSet
is created all the same, and stays without any.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates.pod_security import Standards
from policykit.kube.pod_security import ENFORCE
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.pod_admission import PrivilegedPods
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Namespace
metadata:
  name: device-plugins
  labels: {pod-security.kubernetes.io/enforce: baseline}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: device-plugin
  namespace: device-plugins
spec:
  selector:
    matchLabels: {app: device-plugin}
  template:
    metadata:
      labels: {app: device-plugin}
    spec:
      volumes:
      - name: sockets
        hostPath: {path: /var/lib/kubelet/device-plugins}
      containers:
      - name: main
        image: registry.example/device-plugin:1
        volumeMounts:
        - {name: sockets, mountPath: /var/lib/kubelet/device-plugins}
"""

GOOD = BAD.replace("enforce: baseline", "enforce: privileged")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """An error where namespace and pods are in one file: others may be for different clusters."""
    pods = scope.of(PrivilegedPods)
    standards = Standards(scope) if pods else None
    for use in pods:
        namespace = use.value.namespace
        level, paths = standards.of(namespace) if standards else ("", frozenset())
        if level:
            yield Violation(
                use.at("cause"),
                f"namespace {namespace} enforces the pod security standard {level}, which forbids "
                f"{', '.join(use.value.causes)}: the API server refuses the pods",
                f"label the namespace {ENFORCE}: privileged, or do without",
                None if use.path in paths else Severity.WARNING,
            )


RULE = Rule(
    code="PK815",
    name="refused-by-pod-security",
    severity=Severity.ERROR,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(PrivilegedPods,),
)
