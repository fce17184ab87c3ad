"""Autoscalers and the workloads they change."""

from typing import Any

import pytest

from policykit.kube.autoscaling import places, read
from policykit.manifests.document import Manifest
from policykit.manifests.node import Lines, Node
from policykit.model.gang import Autoscaler


def manifest(api_version: str, kind: str, spec: Any) -> Manifest:
    data = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return Manifest(data, Node(data, 0, Lines(""), {}, None), 0)


HPA = "HorizontalPodAutoscaler"
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "serve"}


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    [
        ("autoscaling/v2", HPA, {"scaleTargetRef": TARGET, "maxReplicas": 4}, ("StatefulSet", 4)),
        ("autoscaling/v1", HPA, {"scaleTargetRef": TARGET, "maxReplicas": "${N}"}, ("StatefulSet", None)),
        ("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": {"name": "serve"}}, ("Deployment", 100)),
        (
            "keda.sh/v1alpha1",
            "ScaledObject",
            {"scaleTargetRef": TARGET, "maxReplicaCount": 7},
            ("StatefulSet", 7),
        ),
        ("autoscaling/v2", HPA, {"maxReplicas": 4}, None),
        ("autoscaling/v2", HPA, None, None),
        ("example.com/v1", HPA, {"scaleTargetRef": TARGET, "maxReplicas": 4}, None),
        ("apps/v1", "Deployment", {"replicas": 4}, None),
    ],
    ids=[
        "hpa",
        "placeholder",
        "keda-defaults",
        "keda",
        "no-target",
        "no-spec",
        "another-group",
        "a-workload",
    ],
)
def test_read(api_version: str, kind: str, spec: Any, expected: tuple[str, int | None] | None) -> None:
    found = read(manifest(api_version, kind, spec), "team-a")
    assert found == (expected and Autoscaler("team-a", expected[0], "serve", expected[1]))


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 70}}}
VALUE = {"type": "Resource", "resource": {"name": "memory", "target": {"averageValue": "1Gi"}}}
OLD = {"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 70}}
CARD = {"type": "Resource", "resource": {"name": "nvidia.com/gpu", "target": {"averageUtilization": 70}}}
KEDA = "keda.sh/v1alpha1"


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "shares"),
    [
        ("autoscaling/v2", HPA, {"metrics": [VALUE, CPU, CARD]}, {"cpu": ("spec", "metrics", 1)}),
        ("autoscaling/v2beta1", HPA, {"metrics": [OLD]}, {"memory": ("spec", "metrics", 0)}),
        (
            "autoscaling/v1",
            HPA,
            {"targetCPUUtilizationPercentage": 70},
            {"cpu": ("spec", "targetCPUUtilizationPercentage")},
        ),
        ("autoscaling/v2", HPA, {"metrics": ["cpu", {"type": "ContainerResource"}]}, {}),
        (
            KEDA,
            "ScaledObject",
            {"triggers": [{"type": "cron"}, {"type": "cpu", "metricType": "Utilization"}]},
            {"cpu": ("spec", "triggers", 1)},
        ),
        (
            KEDA,
            "ScaledObject",
            {
                "triggers": [
                    {"type": "cpu", "metadata": {"type": "Utilization", "containerName": "main"}},
                    {"type": "memory", "metadata": {"type": "AverageValue"}},
                ]
            },
            {},
        ),
    ],
)
def test_shares(api_version: str, kind: str, spec: Any, shares: dict[str, tuple[str | int, ...]]) -> None:
    one = manifest(api_version, kind, {"scaleTargetRef": TARGET, **spec})
    found, where = read(one, "team-a"), places(one)
    assert found is not None
    assert found.shares == tuple(shares)
    assert {name: where[f"share.{name}"] for name in found.shares} == shares
