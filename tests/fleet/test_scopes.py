"""What one policy applies to is one cluster: what exists in one kustomization exists for the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.commands import Result, Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.repositories import on_path as on_path

QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: QUEUE}
spec: {weight: 1}
"""
PRIORITY = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: CLASS}
value: 1000
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  queue: night
  minAvailable: 1
  tasks:
    - name: worker
      replicas: 1
      template:
        spec:
          priorityClassName: overnight
          restartPolicy: OnFailure
          containers: [{name: main, image: "registry.example/train:1"}]
"""


def repository(prefix: str = "", queue: str = "night", priority: str = "overnight") -> dict[str, str]:
    """Queues in one kustomization, a job in another; a prefix makes them ones that must be built."""
    fields = {"commonAnnotations": {"owner": prefix}} if prefix else {}
    other = QUEUE.replace("QUEUE", "day") + "---\n" + PRIORITY.replace("CLASS", "daily")
    own = QUEUE.replace("QUEUE", queue) + "---\n" + PRIORITY.replace("CLASS", priority)
    return {
        "policykit.yaml": policy("prod", select=["PK401", "PK805"]),
        "queues/kustomization.yaml": kustomization(resources=["queues.yaml"], **fields),
        "queues/queues.yaml": own,
        "apps/kustomization.yaml": kustomization(resources=["job.yaml", "own.yaml"], **fields),
        "apps/job.yaml": JOB,
        "apps/own.yaml": other,
    }


def codes(result: Result) -> list[str]:
    return [line.split(" ")[1] for line in result.out.splitlines()]


def found(result: Result) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(result.out)["findings"]
    return findings


@pytest.mark.parametrize("prefix", ["", "team"], ids=["as written", "as built"])
@pytest.mark.parametrize("path", [".", "apps", "apps/job.yaml"])
def test_what_another_kustomization_defines_exists(shell: Shell, prefix: str, path: str) -> None:
    shell.write(dict(repository(prefix)))
    result = shell.run("lint", "--no-cache", "--format", "concise", path)
    assert (codes(result), result.code) == ([], 0)


@pytest.mark.parametrize("prefix", ["", "team"], ids=["as written", "as built"])
def test_what_nothing_defines_does_not(shell: Shell, prefix: str) -> None:
    shell.write(dict(repository(prefix, queue="noon", priority="noon")))
    result = shell.run("lint", "--no-cache", "--format", "concise", ".")
    assert codes(result) == ["PK401", "PK805"]


@pytest.mark.parametrize("prefix", ["", "team"], ids=["as written", "as built"])
@pytest.mark.parametrize("path", [".", "apps", "apps/job.yaml"])
def test_names_that_only_another_kustomization_has_are_compared(shell: Shell, prefix: str, path: str) -> None:
    """The kustomization of the job defines neither queues nor classes, and the policy no queues."""
    files = repository(prefix, queue="nights", priority="overnights")
    files["apps/own.yaml"] = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
    no_queues = {"queues": None, "targets": {"volcano": {"version": "1.11.0", "delivery": "manifest"}}}
    files["policykit.yaml"] = json.dumps(json.loads(files["policykit.yaml"]) | no_queues)
    shell.write(dict(files))
    result = shell.run("lint", "--no-cache", "--format", "json", path)
    assert [(each["line"], each["code"], each["help"].split("?")[0]) for each in found(result)] == [
        (5, "PK401", "did you mean nights"),
        (12, "PK805", "did you mean overnights"),
    ]
    shell.write({**repository(prefix), "policykit.yaml": files["policykit.yaml"]})
    assert found(shell.run("lint", "--no-cache", "--format", "json", path)) == []


def test_what_another_cluster_defines_does_not(shell: Shell) -> None:
    files = repository()
    files["queues/policykit.yaml"] = policy("dev")
    shell.write(dict(files))
    result = shell.run("lint", "--no-cache", "--format", "concise", "--select", "PK401,PK805", ".")
    assert codes(result) == ["PK401", "PK805"]


GANG = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang, namespace: a}
spec: {minMember: 3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: pods, namespace: a}
spec:
  replicas: 2
  selector: {matchLabels: {app: pods}}
  template:
    metadata:
      labels: {app: pods}
      annotations: {scheduling.k8s.io/group-name: gang}
    spec:
      schedulerName: volcano
      containers: [{name: main, image: "registry.example/a:1"}]
"""


def test_builds_that_define_the_same_object_are_never_added_up(shell: Shell) -> None:
    """Two overlays of a base are two ways to apply it: each has two pods of three, and none has four."""
    files = {
        "policykit.yaml": policy("prod", select=["PK301", "PK403", "PK404"]),
        "base/kustomization.yaml": kustomization(resources=["gang.yaml"]),
        "base/gang.yaml": GANG,
    }
    for name in ("day", "night"):
        fields = {"resources": ["../base"], "commonAnnotations": {"time": name}}
        files[f"{name}/kustomization.yaml"] = kustomization(**fields)
    shell.write(dict(files))
    result = shell.run("lint", "--no-cache", "--format", "concise", ".")
    assert [line.split(" ")[:2] for line in result.out.splitlines()] == [["base/gang.yaml:4:19:", "PK301"]]
