"""Which fields need a feature gate that is off, by release."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.model.release import Version
from policykit.targets.kubernetes import feature_gates


@pytest.mark.parametrize(
    ("minor", "stated", "spec", "gates"),
    [
        (33, {}, {"resources": {}}, ["PodLevelResources"]),
        (34, {}, {"resources": {}}, []),
        (31, {}, {"resources": {}}, []),  # the release does not know the field at all
        (33, {"PodLevelResources": True}, {"resources": {}}, []),
        (36, {"PodLevelResources": False}, {"resources": {}}, ["PodLevelResources"]),
        (28, {}, {"initContainers": [{"restartPolicy": "Always"}]}, ["SidecarContainers"]),
        (28, {}, {"initContainers": [{"restartPolicy": "Never"}]}, []),
        (28, {}, {"initContainers": "none"}, []),
        (36, {}, {"containers": [{"lifecycle": {"stopSignal": "SIGINT"}}]}, ["ContainerStopSignals"]),
        (28, {}, {"hostUsers": False}, ["UserNamespacesSupport"]),
        (28, {}, {"containers": [{"restartPolicy": "Never"}]}, ["ContainerRestartRules"]),
    ],
)
def test_fields_of_pods(minor: int, stated: dict[str, bool], spec: dict[str, Any], gates: list[str]) -> None:
    closed = feature_gates.closed(Version(1, minor, 0), stated)
    assert [field.gate.name for _, field in feature_gates.found(closed.pods, spec)] == gates


CLAIM = {"spec": {"devices": {"requests": [{"exactly": {"capacity": {}}}, {"firstAvailable": [{}]}]}}}

CLASS = {"spec": {"extendedResourceName": "example.com/gpu"}}
SERVICE = {"spec": {"trafficDistribution": "PreferSameNode"}}


@pytest.mark.parametrize(
    ("minor", "kind", "data", "gates"),
    [
        (36, ("autoscaling", "HorizontalPodAutoscaler"), {"spec": {"minReplicas": 0}}, ["HPAScaleToZero"]),
        (37, ("autoscaling", "HorizontalPodAutoscaler"), {"spec": {"minReplicas": 0}}, []),
        (36, ("autoscaling", "HorizontalPodAutoscaler"), {"spec": {"minReplicas": 1}}, []),
        (33, ("resource.k8s.io", "ResourceClaim"), CLAIM, ["DRAPrioritizedList"]),
        (34, ("resource.k8s.io", "ResourceClaimTemplate"), {"spec": CLAIM}, ["DRAConsumableCapacity"]),
        (36, ("resource.k8s.io", "ResourceClaim"), CLAIM, []),
        (35, ("resource.k8s.io", "DeviceClass"), CLASS, ["DRAExtendedResource"]),
        (33, ("", "Service"), SERVICE, ["PreferSameTrafficDistribution"]),
    ],
)
def test_fields_of_objects(minor: int, kind: tuple[str, str], data: dict[str, Any], gates: list[str]) -> None:
    closed = feature_gates.closed(Version(1, minor, 0), {})
    assert [field.gate.name for _, field in feature_gates.found(closed.objects.get(kind, ()), data)] == gates


def test_paths_lead_to_the_field() -> None:
    closed = feature_gates.closed(Version(1, 33, 0), {})
    spec = {"volumes": [{"name": "a"}, {"name": "b", "image": {"reference": "r"}}]}
    assert [path for path, _ in feature_gates.found(closed.pods, spec)] == [("volumes", 1, "image")]


def test_no_gate_is_on_before_it_exists() -> None:
    for gate in feature_gates.GATES.values():
        assert gate.on is None or gate.since < gate.on
