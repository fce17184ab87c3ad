"""Pods cannot mount the volume of a claim where they run.

A PersistentVolume with node affinity, such as a local disk, and a StorageClass with `allowedTopologies` are
for some nodes only: where no pool that takes the pods has such nodes, they stay pending, and so do pods of a
DaemonSet on its other nodes; so do those that select nodes with another value of the label. With
ReadWriteOnce the pods must be on one node, unless the volume is part of a file system of the network: where
required anti-affinity, a host port, a spread constraint or their size keeps them apart, the others wait for
the volume, and a rolling update, which starts the new pod first, never ends. Replicas that may be on any
nodes wait too, once one of them is on another node; so do pods of two objects that both run for long. A class
that waits for the first consumer has its volumes made by the scheduler: with nodeName it never sees the pods,
so none is made. A class that does not wait has a disk made in any zone: two of one pod may be in two zones,
or one in a zone where the pods do not run. A claim gets none of the PersistentVolumes of its class, nor the
one that it names, where these are smaller, lack an access mode, or are for another claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates.volumes import Volumes
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.severity import Severity
from policykit.model.volumes import ClaimUse

BAD = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: weights
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests: {storage: 100Gi}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 3
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {app: serve}
      volumes:
      - name: weights
        persistentVolumeClaim: {claimName: weights}
      containers:
      - name: main
        image: registry.example/serve:1
        volumeMounts:
        - {name: weights, mountPath: /weights}
        resources:
          requests: {cpu: 1, memory: 1Gi}
"""

GOOD = BAD.replace("ReadWriteOnce", "ReadWriteMany")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Only of claims, volumes and classes that the files have."""
    uses = [each for each in scope.of(ClaimUse) if not each.partial]
    volumes = Volumes(scope, context.cluster) if uses else None
    for use in uses:
        found = volumes.problem(use.value) if volumes else None
        if found is not None and found.known:
            severity = Severity.ERROR if found.certain else Severity.INFO if found.possible else None
            yield Violation(use.at("claim"), found.message, found.help, severity)


RULE = Rule(
    code="PK144",
    name="unusable-volume",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(ClaimUse,),
)
