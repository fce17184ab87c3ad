"""Volcano refuses a job that is written so.

The webhook compares what a schema cannot: tasks with each other, policies with the events that they
may name, names with the pods that will carry them. A JobTemplate and the job in a CronJob are
looked at by nobody before a Job is made of them, and that fails then. A gang's size is a matter of
PK301, its topology of PK309, its queue of PK401 and PK402.
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
    """As the webhooks of the release judge it."""
    yield from job_admission.faults(manifest, versions.release_of(context.cluster))


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
