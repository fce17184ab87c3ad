"""Several pods name a volume that only one pod may use.

The access mode ReadWriteOncePod keeps a second pod of the cluster from being placed while the first one is
there. The other replicas stay pending, and so does the new pod of a rolling update that keeps the old one
until the new one is ready.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import LocatedFact, Scope
from policykit.model.references import ClaimUse, SinglePodClaim
from policykit.model.severity import Severity

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
    """Reported at the claim. Source: plugin `VolumeRestrictions` of kube-scheduler (v1.36)."""
    uses: dict[tuple[str, str], list[LocatedFact[ClaimUse]]] = {}
    for use in scope.of(ClaimUse):
        if not use.partial:
            uses.setdefault((use.value.namespace, use.value.claim), []).append(use)
    for claim in scope.of(SinglePodClaim):
        key = (claim.value.namespace, claim.value.name)
        for use in () if claim.partial else uses.get(key, ()):
            value = use.value
            if value.pods is not None and value.pods > 1:
                fault = f"{use.resource.kind} {use.resource.name} has {value.pods}: the others stay pending"
                advice = "write ReadWriteMany or ReadOnlyMany, or a StatefulSet with volumeClaimTemplates"
            elif value.adds_first:
                fault = (
                    f"a rolling update of {use.resource.kind} {use.resource.name} starts a second one before "
                    "it removes the first, and never ends"
                )
                advice = "set strategy.type: Recreate in it"
            else:
                continue
            yield Violation(
                claim.at("mode"), f"ReadWriteOncePod lets one pod use the volume, but {fault}", advice
            )


RULE = Rule(
    code="PK226",
    name="volume-for-one-pod",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
)
