"""A job that Volcano rejects.

The webhook checks what a schema cannot: tasks against each other, policies against the events they
may name, names against the pods that will carry them. A JobTemplate, or the job in a CronJob, is not
checked until a Job is created from it, and creating it then fails. PK301 covers the size of a gang,
PK309 its topology, PK401 and PK402 its queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.model.severity import Severity
from policykit.rules.volcano import job_admission
from policykit.targets.volcano import versions

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 2
  tasks:
  - name: worker
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

GOOD = BAD.replace(
    "  - name: worker\n    replicas: 1\n    template: *pod",
    "  - name: ps\n    replicas: 1\n    template: *pod",
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """As the webhooks of the release check it."""
    yield from job_admission.job_violations(manifest, versions.release_of(context.cluster))


RULE = Rule(
    code="PK510",
    name="invalid-volcano-job",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=frozenset({"CronJob", "HyperJob", "Job", "JobFlow", "JobTemplate"}),
)
