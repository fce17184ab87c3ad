"""YAML in a help is what the API server takes: a value that reads as a boolean or a number is quoted."""

from typing import Any

import pytest
import yaml

from policykit import api
from tests.clusters import cluster

POLICY: dict[str, Any] = {
    "coverage": "complete",
    "scheme": {"preset": "plain"},
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "gpu": {
            "card": "h20",
            "nodes": 4,
            "taints": ["example.com/gpu=true:NoSchedule"],
            "labels": {"example.com/gpu": "true"},
        },
        "web": {"nodes": 2, "allocatable": {"cpu": 8}},
    },
}
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
  - {name: main, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 1}}}
"""
CHART = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v25.3.0, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
    daemonsets: {tolerations: [{key: example.com/other, operator: Equal, value: "1", effect: NoSchedule}]}
"""
REPLACED = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: train}
spec:
  entrypoint: main
  tolerations: [{key: example.com/gpu, operator: Equal, value: "true", effect: NoSchedule}]
  templates:
  - name: main
    tolerations: [{key: example.com/web, operator: Exists, effect: NoSchedule}]
    container: {image: "registry.example/train:1"}
"""


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [("PK101", POD, "true"), ("PK120", CHART, "1"), ("PK127", REPLACED, "true")],
)
def test_quoted(code: str, text: str, value: str) -> None:
    report = api.lint_texts({"all.yaml": text.encode()}, cluster(POLICY), [], False, "2026-07-01")
    helps = [line for one in report.findings if one.code == code for line in one.help.split("\n")]
    items = [item for line in helps if line.startswith("- {") for item in yaml.safe_load(line)]
    assert value in [item.get("value") for item in items], helps
    assert all(isinstance(each, str) for item in items for each in item.values())


RENAMED = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [queue.yaml, pod.yaml]
namePrefix: prod-
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: prod-research}
spec: {weight: 1}
---
apiVersion: v1
kind: Pod
metadata:
  name: prod-train
  annotations: {scheduling.volcano.sh/queue-name: research}
spec:
  schedulerName: volcano
  containers: [{name: main, image: "registry.example/train:1"}]
"""


def test_the_reference_to_a_renamed_queue() -> None:
    report = api.lint_texts({"all.yaml": RENAMED.encode()}, None, [], True, "2026-07-01")
    (found,) = [one for one in report.findings if one.code == "PK401"]
    assert yaml.safe_load(found.help.split("\n")[-1]) == {
        "nameReference": [
            {
                "kind": "Queue",
                "group": "scheduling.volcano.sh",
                "fieldSpecs": [
                    {"kind": "Pod", "path": r"metadata/annotations/scheduling.volcano.sh\/queue-name"}
                ],
            }
        ]
    }
