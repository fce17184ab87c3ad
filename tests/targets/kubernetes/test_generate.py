"""PriorityClasses and ResourceQuotas as the API server takes and counts them."""

from typing import Any

import pytest
import yaml

from policykit.generator.artifact import Role
from policykit.model.cluster import Cluster
from policykit.model.queue import Priority, Quota
from policykit.targets.kubernetes.generate import generate, priority_class, resource_quota

GIB = 1 << 30


@pytest.mark.parametrize(
    ("cluster", "paths"),
    [
        (Cluster("a", ()), []),
        (Cluster("a", (), priorities=(Priority("p", 1),)), ["kubernetes/priorities.yaml"]),
        (Cluster("a", (), quotas=(Quota("n", "q"),)), ["kubernetes/quotas.yaml"]),
    ],
    ids=["nothing", "priorities", "quotas"],
)
def test_files_only_where_needed(cluster: Cluster, paths: list[str]) -> None:
    artifacts = generate(cluster).artifacts
    assert [artifact.path for artifact in artifacts] == paths
    assert {artifact.role for artifact in artifacts} <= {Role.MANIFEST}


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        (
            Priority("train", 1000),
            {"value": 1000, "globalDefault": False, "preemptionPolicy": "PreemptLowerPriority"},
        ),
        (
            Priority("low", -5, preempts=False),
            {"value": -5, "globalDefault": False, "preemptionPolicy": "Never"},
        ),
        (
            Priority("usual", 0, default=True, description="whatever says nothing"),
            {
                "value": 0,
                "globalDefault": True,
                "preemptionPolicy": "PreemptLowerPriority",
                "description": "whatever says nothing",
            },
        ),
    ],
    ids=["plain", "never preempts", "default"],
)
def test_priority_class(priority: Priority, expected: dict[str, Any]) -> None:
    head = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": priority.name},
    }
    assert priority_class(priority) == {**head, **expected}


@pytest.mark.parametrize(
    ("quota", "hard"),
    [
        (Quota("n", "q"), {}),
        (Quota("n", "q", pods=20), {"pods": "20"}),
        (
            Quota("n", "q", requests={"memory": 64 * GIB, "cpu": 1500, "nvidia.com/gpu": 8}),
            {"requests.cpu": "1500m", "requests.memory": "64Gi", "requests.nvidia.com/gpu": "8"},
        ),
        (Quota("n", "q", limits={"cpu": 2000, "memory": GIB}), {"limits.cpu": "2", "limits.memory": "1Gi"}),
        (Quota("n", "q", limits={"nvidia.com/gpu": 4}), {"requests.nvidia.com/gpu": "4"}),
        (
            Quota("n", "q", requests={"nvidia.com/gpu": 2}, limits={"nvidia.com/gpu": 4}),
            {"requests.nvidia.com/gpu": "2"},
        ),
        (Quota("n", "q", limits={"hugepages-2Mi": GIB}), {"requests.hugepages-2Mi": "1Gi"}),
    ],
    ids=[
        "empty",
        "pods",
        "requests",
        "limits",
        "limit of cards",
        "request and limit of cards",
        "limit of huge pages",
    ],
)
def test_resource_quota(quota: Quota, hard: dict[str, str]) -> None:
    assert resource_quota(quota) == {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "n"},
        "spec": {"hard": hard},
    }


def test_amounts_stay_text_in_the_file() -> None:
    (artifact,) = generate(Cluster("a", (), quotas=(Quota("n", "q", {"cpu": 2000}, pods=3),))).artifacts
    assert yaml.safe_load(artifact.text)["spec"]["hard"] == {"requests.cpu": "2", "pods": "3"}
