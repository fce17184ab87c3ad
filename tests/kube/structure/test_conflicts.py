"""Parts of a pod whose fields are right each by itself: what the API server refuses, wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policykit.kube.structure import check

POD = """
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
  - name: main
    image: registry.example.com/train:1
"""
RAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: head
          image: registry.example.com/ray:1
          resources: {requests: {memory: 16Gi}, limits: {memory: 8Gi}}
"""


FIELDS = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms[0].matchFields"
)


def said(text: str) -> list[str]:
    data: dict[str, Any] = yaml.safe_load(text)
    return [problem.message for problem in check(data, data["apiVersion"], data["kind"])]


def pod(**fields: str) -> str:
    """The pod with further fields of its container, and with `spec` of its spec."""
    spec = f"  {fields.pop('spec')}\n" if "spec" in fields else ""
    return POD + "".join(f"    {name}: {value}\n" for name, value in fields.items()) + spec


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            pod(resources="{requests: {cpu: 4, memory: 8Gi}, limits: {cpu: 2000m, memory: 4Gi}}"),
            [
                "spec.containers[0].resources.requests.cpu is 4, above the limit 2000m",
                "spec.containers[0].resources.requests.memory is 8Gi, above the limit 4Gi",
            ],
        ),
        (
            RAY,
            [
                "spec.headGroupSpec.template.spec.containers[0].resources.requests.memory is 16Gi, "
                "above the limit 8Gi"
            ],
        ),
        (
            pod(env="[{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"),
            ["spec.containers[0].env[0].valueFrom conflicts with value: a variable takes only one of them"],
        ),
        (
            pod(env="[{name: A, valueFrom: {}}]"),
            [
                "spec.containers[0].env[0].valueFrom has no configMapKeyRef, fieldRef, fileKeyRef, "
                "resourceFieldRef or secretKeyRef"
            ],
        ),
        (pod(envFrom="[{prefix: A_}]"), ["spec.containers[0].envFrom[0] has no configMapRef or secretRef"]),
        (
            pod(spec="resourceClaims: [{name: gpu}]"),
            ["spec.resourceClaims[0] has no resourceClaimName or resourceClaimTemplateName"],
        ),
        (
            pod(spec="resourceClaims: [{name: gpu, resourceClaimName: a, resourceClaimTemplateName: b}]"),
            [
                "spec.resourceClaims[0].resourceClaimTemplateName conflicts with resourceClaimName: "
                "a claim takes only one of them"
            ],
        ),
        (
            pod(
                spec="topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1,"
                " whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: ["
                "{key: app, operator: In}, {key: b, operator: Exists, values: [c]}]}}]"
            ),
            [
                "spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator is In, "
                "but there are no values",
                "spec.topologySpreadConstraints[0].labelSelector.matchExpressions[1].values is set, but "
                "operator Exists takes no values",
            ],
        ),
        (
            pod(
                spec="affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                "{nodeSelectorTerms: [{matchFields: [{key: spec.x, operator: Exists}, "
                "{key: metadata.name, operator: NotIn, values: [a, b]}]}]}}}"
            ),
            [
                f"{FIELDS}[0].key is spec.x, but metadata.name is the only field",
                f"{FIELDS}[0].operator is Exists, but a field takes only In or NotIn",
                f"{FIELDS}[1].values has 2 values, but a field takes exactly one",
            ],
        ),
    ],
)
def test_what_does_not_go_together(text: str, messages: list[str]) -> None:
    assert said(text) == messages


@pytest.mark.parametrize(
    "text",
    [
        pod(resources="{requests: {cpu: 2, memory: 4Gi}, limits: {cpu: 2000m, memory: 4294967296}}"),
        pod(resources="{requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}"),  # another rule's
        pod(resources='{requests: {cpu: "$(CPU)"}, limits: {cpu: 1}}'),
        pod(resources="{requests: {cpu: 2}, limits: {}}"),
        pod(env="[{name: A, value: '', valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"),
        pod(env="[{name: A, value: null, valueFrom: {secretKeyRef: {name: a, key: b}}}]"),
        pod(env="[{name: A}]"),
        pod(
            spec="affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}"
        ),
        pod(envFrom="[{secretRef: {name: a}}]"),
        pod(spec="resourceClaims: [{name: gpu, resourceClaimTemplateName: b}]"),
        pod(spec="resourceClaims: [{name: gpu, source: {resourceClaimName: a}}]"),
        pod(
            spec="topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1,"
            " whenUnsatisfiable: DoNotSchedule, labelSelector:"
            " {matchExpressions: [{key: app, operator: In, ...: }]}}]"
        ),
    ],
)
def test_what_goes_together_or_is_not_known(text: str) -> None:
    assert said(text) == []


def test_what_is_shared_by_an_alias_is_said_once() -> None:
    text = POD + (
        "    resources: &size {requests: {cpu: 4}, limits: {cpu: 2}}\n"
        "  - {name: other, image: registry.example.com/other:1, resources: *size}\n"
    )
    assert said(text) == ["spec.containers[0].resources.requests.cpu is 4, above the limit 2"]
