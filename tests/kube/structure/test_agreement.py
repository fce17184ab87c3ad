"""Names within one pod: what uses something of it, and what it has."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.kube.structure import check
from policykit.kube.structure.problem import DISAGREEING, UNMET

POD = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  volumes: VOLUMES
  resourceClaims: CLAIMS
  initContainers:
  - name: fetch
    image: registry.example.com/fetch:1
    volumeMounts: [{name: data, mountPath: /data}]
  containers:
  - name: main
    image: registry.example.com/train:1
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {claims: [{name: gpu}]}
"""
STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - name: main
        image: registry.example.com/db:1
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: NAME}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
CLAIM = "{name: gpu, resourceClaimName: one}"


def said(text: str) -> list[tuple[str, str]]:
    data: dict[str, Any] = yaml.safe_load(text)
    return [(found.kind, found.message) for found in check(data, data["apiVersion"], data["kind"])]


def pod(volumes: str, claims: str = f"[{CLAIM}]") -> str:
    return POD.replace("VOLUMES", volumes).replace("CLAIMS", claims)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (pod("[{name: data, emptyDir: {}}]"), []),
        (
            pod("[{name: date, emptyDir: {}}]"),
            [
                (
                    UNMET,
                    'spec.initContainers[0].volumeMounts[0].name is "data", no volume of the pod: '
                    "it has date",
                ),
                (
                    UNMET,
                    'spec.containers[0].volumeMounts[0].name is "data", no volume of the pod: it has date',
                ),
            ],
        ),
        (
            pod("null"),
            [
                (UNMET, 'spec.initContainers[0].volumeMounts[0].name is "data", no volume of the pod'),
                (UNMET, 'spec.containers[0].volumeMounts[0].name is "data", no volume of the pod'),
            ],
        ),
        (pod('[{name: "$(NAME)", emptyDir: {}}]'), []),
        (pod("[{name: DATA_VOLUME, emptyDir: {}}]"), []),
        (
            pod("[{name: data, emptyDir: {}}]", "[{name: gpus, resourceClaimName: one}]"),
            [
                (
                    DISAGREEING,
                    'spec.containers[0].resources.claims[0].name is "gpu", no claim of the pod: it has gpus',
                )
            ],
        ),
        (pod("[{name: data, emptyDir: {}}]", '[{name: "{{ x }}", resourceClaimName: one}]'), []),
        (STATEFUL.replace("NAME", "data"), []),
        (
            STATEFUL.replace("NAME", "disk"),
            [
                (
                    UNMET,
                    'spec.template.spec.containers[0].volumeMounts[0].name is "data", no volume of the pod: '
                    "it has disk",
                )
            ],
        ),
    ],
)
def test_names_of_volumes_and_claims(text: str, problems: list[tuple[str, str]]) -> None:
    assert said(text) == problems
