"""A Reservation that reserves nothing, or something else than it says.

Its template is kept as written, so a field in the wrong place is lost without a word. It is
placed only by a profile of koord-scheduler, and needs owners that may use it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.targets import system_of
from policykit.targets.koordinator.checks import reservation

BAD = """\
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata:
  name: train
spec:
  owners:
  - labelSelector:
      matchLabels: {app: train}
  ttl: 1h
  template:
    namespace: ml
    spec:
      schedulerName: koord-scheduler
      containers:
      - name: reserved
        resources:
          requests: {cpu: "4", memory: 8Gi}
"""

GOOD = BAD.replace("    namespace: ml\n", "    metadata:\n      namespace: ml\n")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: koordinator `pkg/util/reservation/reservation.go` (1.8)."""
    if manifest.group == "scheduling.koordinator.sh":
        yield from reservation.faults(manifest, lambda name: system_of(name, context.cluster))


RULE = Rule(
    code="PK613",
    name="invalid-reservation",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"Reservation"}),
)
