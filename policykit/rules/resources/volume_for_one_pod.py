"""Several pods name a volume that only one pod may use.

The access mode ReadWriteOncePod keeps a second pod of the cluster from being placed while the first one is
there. The other replicas stay pending, and so does the new pod of a rolling update that keeps the old one
until the new one is ready. A job whose pods wait for each other never starts. Of two Deployments that mount
it one never runs. The pods of a Job run one after another.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.gates.volumes import Volumes
from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.severity import Severity
from policykit.model.volumes import ONE_POD, DeclaredClaim

BAD = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: weights
spec:
  accessModes: [ReadWriteOncePod]
  resources: {requests: {storage: 500Gi}}
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
      volumes:
      - {name: weights, persistentVolumeClaim: {claimName: weights}}
      containers:
      - name: main
        image: registry.example/serve:1
        volumeMounts:
        - {name: weights, mountPath: /weights}
"""

GOOD = BAD.replace("ReadWriteOncePod", "ReadOnlyMany")


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """Reported at the claim, once for each object that uses it."""
    claims = [each for each in scope.of(DeclaredClaim) if ONE_POD in each.value.access_modes]
    volumes = Volumes(scope, context.cluster) if claims else None
    for claim in claims:
        users = volumes.users(claim.value) if volumes and not claim.partial else ()
        told = dict.fromkeys(volumes.of_one_pod(use) for use in users) if volumes else {}
        for found in filter(None, told):
            severity = Severity.ERROR if found.certain else None
            yield Violation(claim.at("modes"), found.message, found.help, severity)


RULE = Rule(
    code="PK226",
    name="volume-for-one-pod",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(DeclaredClaim,),
)
