"""A plugin of a Volcano Job is told something that it cannot use.

Plugins tensorflow, pytorch, mpi, ray and hcclrank find the tasks of a job by their names. Where a
name is wrong the pods start without what the framework needs, and nothing is reported. An argument
that is not understood is only logged, and those behind it are lost with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 2
  plugins:
    pytorch: ["--master=main", "--worker=worker"]
  tasks:
  - name: master
    replicas: 1
    template: &pod
      spec:
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            requests: {cpu: 1, memory: 1Gi}
  - name: worker
    replicas: 1
    template: *pod
"""

GOOD = BAD.replace("--master=main", "--master=master")

_GROUPS = frozenset({"batch.volcano.sh", "flow.volcano.sh", "training.volcano.sh"})


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Unknown plugins are PK510's. Nothing of Volcano's is loaded for jobs of others."""
    if manifest.group in _GROUPS:
        from policykit.targets.volcano.checks import installed, plugged

        yield from plugged.faults(manifest, installed.stated(context.cluster))


RULE = Rule(
    code="PK515",
    name="job-plugin-misuse",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"CronJob", "HyperJob", "Job", "JobTemplate"}),
)
