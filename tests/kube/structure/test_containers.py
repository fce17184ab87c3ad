"""Names and probes within one pod."""

from __future__ import annotations

import pytest
import yaml

from policykit.kube.structure import check
from policykit.kube.structure.problem import CONFLICTING, INCONSISTENT

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  volumes: VOLUMES
  initContainers: [{name: first, image: registry.example.com/first:1, INITIAL}]
  containers: [{name: main, image: registry.example.com/web:1, CONTAINER}]
"""
SERVED = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    containers: [{name: main, image: registry.example.com/chat:1, readinessProbe: {periodSeconds: 5}}]
"""


def said(container: str = "", initial: str = "", volumes: str = "[]") -> list[tuple[str, str]]:
    text = POD.replace("CONTAINER", container).replace("INITIAL", initial).replace("VOLUMES", volumes)
    return [(found.kind, found.message) for found in check(yaml.safe_load(text), "v1", "Pod")]


@pytest.mark.parametrize(
    "container",
    [
        "livenessProbe: {httpGet: {port: http}, successThreshold: 1}",
        "readinessProbe: {tcpSocket: {port: 80}, successThreshold: 3}",
        "startupProbe: {exec: {command: [ready]}, httpGet: null}",
        "livenessProbe: null",
        'livenessProbe: {"...": }',
        "livenessProbe: {'{{ include probe }}': }",
        "ports: [{name: a, containerPort: 1}, {name: b, containerPort: 2}, {containerPort: 3}]",
        "ports: [{name: HTTP_PORT, containerPort: 1}, {name: HTTP_PORT, containerPort: 2}]",
    ],
)
def test_nothing_to_say(container: str) -> None:
    assert said(container) == []


@pytest.mark.parametrize(
    ("container", "problem"),
    [
        pytest.param(
            "livenessProbe: {periodSeconds: 5}",
            (
                INCONSISTENT,
                "spec.containers[0].livenessProbe has no handler: none of exec, grpc, httpGet, tcpSocket",
            ),
            id="no handler",
        ),
        pytest.param(
            "readinessProbe: {tcpSocket: {port: 80}, httpGet: {port: 80}}",
            (
                CONFLICTING,
                "spec.containers[0].readinessProbe.tcpSocket conflicts with httpGet: "
                "a probe takes only one of them",
            ),
            id="two handlers",
        ),
        pytest.param(
            "startupProbe: {tcpSocket: {port: 80}, successThreshold: 2}",
            (
                CONFLICTING,
                "spec.containers[0].startupProbe.successThreshold is 2, but must be 1 for this probe",
            ),
            id="threshold",
        ),
        pytest.param(
            "ports: [{name: http, containerPort: 1}, {name: http, containerPort: 2}]",
            (
                INCONSISTENT,
                'spec.containers[0].ports[1].name is "http", '
                "which is also the name of spec.containers[0].ports[0]",
            ),
            id="one port name twice",
        ),
    ],
)
def test_refused(container: str, problem: tuple[str, str]) -> None:
    assert said(container) == [problem]


def test_probes_of_init_containers() -> None:
    probe = "livenessProbe: {httpGet: {port: 80}}"
    message = "spec.initContainers[0].livenessProbe is on an init container, which cannot have probes"
    assert said(initial=probe) == [(CONFLICTING, message)]
    assert said(initial=f"restartPolicy: Always, {probe}") == []


def test_volumes() -> None:
    assert said(volumes="[{name: a}, {name: b, emptyDir: {}, hostPath: null}]") == []
    assert said(volumes="[{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]") == [
        (INCONSISTENT, 'spec.volumes[1].name is "a", which is also the name of spec.volumes[0]')
    ]
    assert said(volumes="[{name: a, emptyDir: {}, hostPath: {path: /data}}]") == [
        (CONFLICTING, "spec.volumes[0].hostPath conflicts with emptyDir: a volume has one source")
    ]


def test_knative_fills_in_what_a_probe_asks() -> None:
    assert check(yaml.safe_load(SERVED), "serving.kserve.io/v1beta1", "InferenceService") == ()
