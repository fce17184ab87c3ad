"""One repository of four clusters with four schedulers: a job is judged by the cluster that runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_part_and_whole import told

SCHEDULERS = {
    "blue": ("volcano", {"volcano": {"version": "1.15.1"}}),
    "green": ("koord-scheduler", {"koordinator": {"version": "1.8.0"}}),
    "red": ("yunikorn", {"yunikorn": {"version": "1.9.0"}}),
    "grey": ("default-scheduler", {}),
}
"""Cluster to the scheduler of its training jobs, and the systems that run there."""
TEAMS = ("vision", "speech")
ALLOCATABLE = {"cpu": 180, "memory": "1900Gi"}
COMMON = {
    "apiVersion": "policykit.io/v1alpha1",
    "kind": "Policy",
    "metadata": {"name": "common"},
    "domain": "ai.example.com",
    "coverage": "complete",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "train": {
            "usage": "training",
            "card": "h20",
            "nodes": 8,
            "allocatable": {"cpu": 180, "memory": "1900Gi"},
        },
        "infer": {
            "usage": "inference",
            "card": "h20",
            "nodes": 4,
            "allocatable": {"cpu": 180, "memory": "1900Gi"},
        },
    },
    "workloads": {"inference": {"usages": ["inference"], "prefer": {"inference": 1}}},
}
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {policykit.io/workload: training}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests: {cpu: 8, memory: 64Gi}
          limits: {nvidia.com/gpu: 8}
"""
SERVICE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
  labels: {policykit.io/workload: inference}
spec:
  replicas: 2
  selector:
    matchLabels: {app: serve}
  template:
    metadata:
      labels: {app: serve}
    spec:
      containers:
      - name: main
        image: registry.example/serve:1
        resources:
          requests: {cpu: 4, memory: 16Gi}
          limits: {nvidia.com/gpu: 1}
"""


def cluster_policy(name: str) -> str:
    scheduler, targets = SCHEDULERS[name]
    training: dict[str, Any] = {"usages": ["training"], "prefer": {"training": 1}, "scheduler": scheduler}
    applies = [{"path": f"../../teams/{team}/{name}"} for team in TEAMS]
    return json.dumps(
        {
            "apiVersion": "policykit.io/v1alpha1",
            "kind": "Policy",
            "metadata": {"name": name},
            "extends": ["../../common/policykit.yaml"],
            "workloads": {"training": training},
            "targets": targets,
            "applies": applies,
        }
    )


@pytest.fixture
def monorepo(shell: Shell) -> Shell:
    """A service that every cluster has, and a job of each team for each cluster, as `patch` places them."""
    files: dict[str, str | bytes] = {"common/policykit.yaml": json.dumps(COMMON)}
    files["bases/serve/kustomization.yaml"] = kustomization(resources=["serve.yaml"])
    files["bases/serve/serve.yaml"] = SERVICE
    for name in SCHEDULERS:
        files[f"clusters/{name}/policykit.yaml"] = cluster_policy(name)
        for team in TEAMS:
            here = f"teams/{team}/{name}"
            files[f"{here}/kustomization.yaml"] = kustomization(
                resources=["train.yaml", "../../../bases/serve"], namespace=team
            )
            files[f"{here}/train.yaml"] = JOB
    shell.write(files)
    for name in SCHEDULERS:
        for team in TEAMS:
            done = shell.run(
                "patch",
                "-p",
                f"clusters/{name}/policykit.yaml",
                "--in-place",
                f"teams/{team}/{name}/train.yaml",
            )
            assert done.code == 0, done.err
    done = shell.run("patch", "--in-place", "bases/serve/serve.yaml")
    assert done.code == 0, done.err
    return shell


def test_what_patch_wrote_is_right_everywhere(monorepo: Shell) -> None:
    assert told(monorepo, ".") == set()


FAULTS = {
    "another cluster's scheduler": (
        "teams/vision/blue/train.yaml",
        ("schedulerName: volcano", "schedulerName: koord-scheduler"),
        (47, "PK122", "warning", ("blue",)),
    ),
    "more cards than a node has": (
        "teams/vision/green/train.yaml",
        ("nvidia.com/gpu: 8", "nvidia.com/gpu: 16"),
        (20, "PK203", "error", ("green",)),
    ),
    "a toleration of another usage": (
        "teams/vision/red/train.yaml",
        ("value: training", "value: inference"),
        (39, "PK101", "error", ("red",)),
    ),
    "metadata of YuniKorn without its scheduler": (
        "teams/vision/red/train.yaml",
        ("schedulerName: yunikorn", "schedulerName: default-scheduler"),
        (13, "PK122", "warning", ("red",)),
    ),
    "a kind with a letter missing": (
        "teams/vision/grey/train.yaml",
        ("        policykit.io/workload: training", "        policykit.io/workload: trainin"),
        (12, "PK142", "warning", ("grey",)),
    ),
    "a card that nobody has, in the base": (
        "bases/serve/serve.yaml",
        ("NVIDIA-H20", "NVIDIA-H200"),
        (44, "PK106", "error", ("blue", "green", "grey", "red")),
    ),
    "a namespace that is no name, in an overlay": (
        "teams/speech/grey/kustomization.yaml",
        ('"namespace": "speech"', '"namespace": "Speech"'),
        (1, "PK004", "error", ("grey",)),
    ),
}
"""Name to a file, what is replaced there, and the finding: line, code, severity and clusters."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_of_its_clusters_from_the_part_as_from_the_whole(monorepo: Shell, fault: str) -> None:
    path, (old, new), expected = FAULTS[fault]
    text = (monorepo.folder / path).read_text()
    assert old in text
    monorepo.write({path: text.replace(old, new)})
    whole = told(monorepo, ".")
    assert {(one[0], one[1], one[2], one[3], one[5]) for one in whole} == {(path, *expected)}
    assert told(monorepo, path) == whole
