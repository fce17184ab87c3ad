"""Autoscalers and the workloads they change."""

from typing import Any

import pytest

from policykit.kube.autoscaling import read
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
