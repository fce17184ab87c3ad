"""Parts of a card by annotation, and the pools that have cards for them."""

from __future__ import annotations

from typing import Any

import pytest

from policykit import api
from tests.clusters import policy

POLICY: dict[str, Any] = {
    "coverage": "complete",
    "scheme": {"preset": "plain", "usage": False, "product": False},
    "cards": {"t4": {"product": "Tesla-T4"}},
    "pools": {
        "gpu": {"card": "t4", "cardsPerNode": 1, "nodes": 2, "allocatable": {"cpu": 16, "memory": "64Gi"}},
        "rest": {"nodes": 3, "labels": {"pool": "rest"}, "allocatable": {"cpu": 8, "memory": "32Gi"}},
    },
    "schedulers": ["default-scheduler", "kai-scheduler"],
}
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: half, annotations: {gpu-fraction: "0.5"}}
spec:
  schedulerName: kai-scheduler
  nodeSelector: {pool: rest}
  containers:
  - name: main
    image: registry.example/serve:1
    resources: {requests: {cpu: 1, memory: 1Gi}}
"""
ANYWHERE = POD.replace("  nodeSelector: {pool: rest}\n", "")


@pytest.mark.parametrize(
    ("manifest", "detail"),
    [
        (POD, "gpu-fraction requests part of a card, but no pool that takes the pod has cards"),
        (ANYWHERE, ""),
        (POD.replace("kai-scheduler", "default-scheduler"), ""),
        (ANYWHERE.replace('gpu-fraction: "0.5"', 'gpu-memory: "8000"'), ""),
        (
            ANYWHERE.replace('gpu-fraction: "0.5"', 'gpu-memory: "40000"'),
            "gpu-memory is 40000, but the cards of the pools have at most 15360 MiB",
        ),
    ],
)
@pytest.mark.parametrize("coverage", ["complete", "partial"])
def test_a_part_needs_a_pool_with_cards(manifest: str, detail: str, coverage: str) -> None:
    cluster, raw = policy({**POLICY, "coverage": coverage}), manifest.encode()
    reviewed = [("pod.yaml", each) for each in api.where(raw, cluster)]
    (answer,) = api.answers(reviewed, api.facts("pod.yaml", raw, cluster), cluster, complete=True)
    said = [gate.detail for gate in answer.gates if gate.name == "cards"]
    assert said == [detail] * bool(detail and coverage == "complete")
