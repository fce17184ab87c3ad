"""PK303's help: the scheduler to use, the size, and the field, only where that scheduler reads it."""

from __future__ import annotations

from typing import Any

import pytest

from policykit import api
from tests.clusters import policy

LISTED = "a scheduler with gangs (Volcano, Koordinator, YuniKorn, or Kueue in front)"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template:
    spec:
      SCHEDULER
      restartPolicy: Never
      containers: [{name: a, image: registry.example/a:1, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
PLAIN = JOB.replace("      SCHEDULER\n", "")
MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: a}
spec:
  mpiReplicaSpecs:
    Launcher:
      template: {spec: {containers: [{name: a, image: registry.example/a:1}]}}
    Worker:
      replicas: 2
      template:
        spec:
          containers: [{name: a, image: registry.example/a:1, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
ANNOTATION = "metadata.annotations['scheduling.volcano.sh/group-min-member']"
VOLCANO = {"volcano": {"version": "1.15.1"}}


@pytest.mark.parametrize(
    ("text", "targets", "help_text"),
    [
        pytest.param(PLAIN, None, f"run them under {LISTED} and declare a gang of 4", id="no policy"),
        pytest.param(PLAIN, {}, f"run them under {LISTED} and declare a gang of 4", id="no system"),
        pytest.param(
            PLAIN,
            VOLCANO,
            f"run them under Volcano and declare a gang of 4 in {ANNOTATION}",
            id="a system of the policy",
        ),
        pytest.param(
            JOB.replace("SCHEDULER", "schedulerName: volcano"),
            VOLCANO,
            f"declare a gang of 4 in {ANNOTATION}",
            id="under that system",
        ),
        pytest.param(
            MPI,
            None,
            f"run them under {LISTED} and declare a gang of 3, the pods without cards among them, in "
            "spec.runPolicy.schedulingPolicy.minAvailable",
            id="with a launcher",
        ),
    ],
)
def test_help(text: str, targets: dict[str, Any] | None, help_text: str) -> None:
    cluster = None
    if targets is not None:
        pools = {"a": {"card": "h20", "nodes": 9}}
        cards = {"h20": {"product": "NVIDIA-H20"}}
        cluster = policy({"scheme": "plain", "cards": cards, "pools": pools, "targets": targets})
    findings = api.lint_texts({"a.yaml": text.encode()}, cluster).findings
    assert [one.help for one in findings if one.code == "PK303"] == [help_text]
