"""More pods must be apart, or within one domain, than the pools allow.

With required anti-affinity each replica needs a node, or a zone or rack, without another one, and with a
host port a node of its own. The replicas beyond their number stay pending. Where there are just enough, a
rolling update that may not remove a pod first never ends: its new pod finds no domain. With fewer domains
than `minDomains` each takes only `maxSkew` pods. Required affinity of pods to themselves, and a required
topology of Kueue, hold all of them within one domain: what it has no room for stays pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.rollouts import adds_first
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.placement.topology import Separation, separations
from policykit.targets import DOMAIN_ANNOTATIONS

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
spec:
  replicas: 4000
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      nodeSelector: {example.com/pool: web}
      tolerations:
      - {key: example.com/pool, operator: Equal, value: web, effect: NoSchedule}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels: {app: serve}
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          requests: {cpu: 1, memory: 1Gi}
"""

GOOD = BAD.replace("replicas: 4000", "replicas: 2")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """The narrowest constraint. Source: `deployment/rolling.go` (v1.36)."""
    found = min(separations(review, DOMAIN_ANNOTATIONS), key=lambda each: each.room, default=None)
    if found is None:
        return
    excess = found.replicas - found.room
    stay = "stays" if excess == 1 else "stay"
    if excess > 0:
        yield Violation(
            found.path,
            f"{found.cause}, but {found.limit}: {excess} of them {stay} pending",
            "run fewer replicas, or prefer it: preferredDuringSchedulingIgnoredDuringExecution",
        )
    elif found.apart and found.replicas == found.room and _adds_first(review, found):
        yield Violation(
            found.path,
            f"{found.cause}, and {found.limit}: a rolling update, which starts a new pod before it removes "
            "one, never ends",
            "set strategy.rollingUpdate.maxUnavailable: 1",
            Severity.WARNING,
        )


def _adds_first(review: Review, found: Separation) -> bool:
    manifest = review.manifest
    return adds_first(manifest.data, manifest.group, manifest.kind, found.replicas)


RULE = Rule(
    code="PK135",
    name="too-few-domains",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    substrings=(
        "podAffinity",
        "podAntiAffinity",
        "hostPort",
        "hostNetwork",
        "minDomains",
        "-required-topology",
    ),
)
