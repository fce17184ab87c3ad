"""The configuration of kube-scheduler stands among objects that are applied.

KubeSchedulerConfiguration is a file that the scheduler reads at start, and no kind of the API server:
`kubectl apply` fails with `no matches for kind`, and no scheduler is configured.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: packed-scheduler
  namespace: kube-system
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
profiles:
- schedulerName: packed
"""

GOOD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: packed-scheduler
  namespace: kube-system
data:
  scheduler.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      leaderElect: false
    profiles:
    - schedulerName: packed
"""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """The second document of a file, or one with a name: the scheduler reads a file of its own."""
    if manifest.holder is None and not manifest.partial and (manifest.document or manifest.base):
        yield Violation(
            ("kind",),
            f"{manifest.kind} stands among objects, but is no kind of the API server: it is the "
            "configuration of kube-scheduler",
            "put it into a ConfigMap that the scheduler mounts, and name the file in --config",
        )


RULE = Rule(
    code="PK811",
    name="configuration-as-object",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"KubeSchedulerConfiguration"}),
)
