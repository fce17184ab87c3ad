"""The configuration of kube-scheduler is among objects that are applied.

KubeSchedulerConfiguration is a file that the scheduler reads at start, not a kind of the API server:
`kubectl apply` fails with `no matches for kind`, and no scheduler is configured. Only kops reads it among
the objects of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath

from policykit.linter.rule import Context, Rule, Violation
from policykit.linter.scope import Scope
from policykit.model.configuration_files import ClusterOfProvisioner, ListedFile, MisplacedConfiguration
from policykit.model.queue import Demand
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


def check(scope: Scope, context: Context) -> Iterator[Violation]:
    """One that follows other documents or stands before pods, or whose file a kustomization lists."""
    misplaced = scope.of(MisplacedConfiguration)
    beside = {each.path for each in scope.of(Demand)} if misplaced else set()
    listed = {normpath(join(dirname(each.path), each.value.path)) for each in scope.of(ListedFile)}
    read = {dirname(each.path) for each in scope.of(ClusterOfProvisioner)}
    for each in misplaced:
        if dirname(each.path) in read:
            continue
        if each.value.among_objects or each.path in beside or normpath(each.path) in listed:
            yield Violation(
                each.at("kind"),
                f"{each.value.kind} is not a kind of the API server: it is the "
                "configuration of kube-scheduler",
                "put it in a ConfigMap that the scheduler mounts, and name the file in --config",
            )


RULE = Rule(
    code="PK811",
    name="configuration-as-object",
    severity=Severity.WARNING,
    subject=Scope,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    reports_at=(MisplacedConfiguration,),
)
