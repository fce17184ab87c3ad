"""Which pods of a job wait for each other."""

from typing import Any

import pytest

from policykit.kube.jobs import all_at_once, goes_on_with_fewer
from policykit.manifests.document import Manifest
from policykit.manifests.node import Lines, Node

INDEXED = {"completionMode": "Indexed", "parallelism": 4, "completions": 4}


def manifest(api_version: str, kind: str, spec: Any) -> Manifest:
    data = {"apiVersion": api_version, "kind": kind, "spec": spec}
    return Manifest(data, Node(data, 0, Lines(""), {}, None), 0)


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    [
        ("batch/v1", "Job", INDEXED, True),
        ("batch/v1", "CronJob", {"jobTemplate": {"spec": INDEXED}}, True),
        ("batch/v1", "Job", {**INDEXED, "completions": 8}, False),
        ("batch/v1", "Job", {**INDEXED, "completionMode": "NonIndexed"}, False),
        ("batch/v1", "Job", {"completionMode": "Indexed", "parallelism": 1, "completions": 1}, False),
        ("batch/v1", "Job", {"parallelism": 4}, False),
        ("batch/v1", "Job", {**INDEXED, "parallelism": "${N}", "completions": "${N}"}, False),
        ("batch.volcano.sh/v1alpha1", "Job", INDEXED, False),
        ("batch/v1", "Job", None, False),
    ],
    ids=[
        "indexed", "in-a-cronjob", "in-waves", "independent", "one", "work-queue", "placeholder", "volcano",
        "no-spec",
    ],
)  # fmt: skip
def test_all_at_once(api_version: str, kind: str, spec: Any, expected: bool) -> None:
    assert all_at_once(manifest(api_version, kind, spec)) is expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"elasticPolicy": {"minReplicas": 1}, "pytorchReplicaSpecs": {"Worker": {}}}, True),
        ({"tfReplicaSpecs": {"PS": {}, "Worker": {}}}, True),
        ({"tfReplicaSpecs": {"Chief": {}, "Worker": {}}}, False),
        ({"tasks": [{"name": "ps"}, {"name": "worker"}]}, True),
        ({"tasks": [{"name": "worker", "partitionPolicy": {}}]}, True),
        ({"tasks": [{"name": "worker"}, None]}, False),
        ({"tasks": "worker", "mpiReplicaSpecs": ["Worker"]}, False),
        (None, False),
    ],
    ids=["elastic", "ps", "chief", "ps-task", "partitions", "workers", "odd-shapes", "no-spec"],
)
def test_goes_on_with_fewer(spec: Any, expected: bool) -> None:
    assert goes_on_with_fewer(manifest("example.com/v1", "Any", spec)) is expected
