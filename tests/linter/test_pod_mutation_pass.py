"""Findings that a change of pods at admission may settle are no errors where something changes pods."""

from __future__ import annotations

import pytest

from policykit import api
from policykit.gates import REFUSED, UNKNOWN
from tests.clusters import policy

CLUSTER = {
    "coverage": "complete",
    "scheme": {"preset": "plain", "usage": False, "product": False},
    "cards": {"g": {"product": "Tesla-T4"}},
    "pools": {
        "gpu": {"card": "g", "nodes": 2, "taints": ["dedicated=gpu:NoSchedule"]},
        "cpu": {"nodes": 3},
    },
}
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: team}
spec:
  containers:
  - {name: main, image: "registry.example/app:1", resources: {limits: {nvidia.com/gpu: 1}}}
"""
KYVERNO = """\
apiVersion: kyverno.io/v1
kind: %s
metadata: {name: placing, namespace: %s}
spec:
  rules:
  - name: pods
    match: {any: [{resources: {kinds: [Pod]}}]}
    %s
"""
TOLERATE = "mutate: {patchStrategicMerge: {spec: {tolerations: [{operator: Exists}]}}}"
LABEL = "mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}"
ADMISSION_POLICY = """\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: placing}
spec:
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}"}
"""
COLOCATION = """\
apiVersion: config.koordinator.sh/v1alpha1
kind: ClusterColocationProfile
metadata: {name: placing}
spec: {schedulerName: koord-scheduler}
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: team
  annotations: {scheduler.alpha.kubernetes.io/defaultTolerations: '[{"operator": "Exists"}]'}
"""


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ("", "error"),
        (KYVERNO % ("ClusterPolicy", "''", TOLERATE), "warning"),
        (KYVERNO % ("Policy", "team", TOLERATE), "warning"),
        (KYVERNO % ("Policy", "other", TOLERATE), "error"),
        (KYVERNO % ("ClusterPolicy", "''", "validate: {pattern: {spec: {tolerations: []}}}"), "error"),
        (KYVERNO % ("ClusterPolicy", "''", LABEL), "error"),
        (ADMISSION_POLICY, "warning"),
        (COLOCATION, "warning"),
        (NAMESPACE, "warning"),
    ],
)
def test_a_missing_toleration(beside: str, said: str) -> None:
    texts = {"pod.yaml": POD.encode(), "beside.yaml": beside.encode()}
    found = api.lint_texts(texts, policy(CLUSTER)).findings
    assert [one.severity.value for one in found if one.code == "PK101"] == [said]


@pytest.mark.parametrize(
    ("beside", "state"), [("", REFUSED), (KYVERNO % ("ClusterPolicy", "''", TOLERATE), UNKNOWN)]
)
def test_where(beside: str, state: str) -> None:
    cluster = policy(CLUSTER)
    known = [
        *api.facts("pod.yaml", POD.encode(), cluster),
        *api.facts("beside.yaml", beside.encode(), cluster),
    ]
    reviewed = [("pod.yaml", each) for each in api.where(POD.encode(), cluster)]
    assert [each.state for each in api.answers(reviewed, known, cluster, complete=True)] == [state]


def test_a_namespace_that_is_placed_elsewhere() -> None:
    cluster = policy({**CLUSTER, "placedElsewhere": ["team"]})
    assert not api.lint_texts({"pod.yaml": POD.encode()}, cluster).findings
    reviewed = [("pod.yaml", each) for each in api.where(POD.encode(), cluster)]
    (answer,) = api.answers(reviewed, (), cluster, complete=True)
    assert answer.state == UNKNOWN
    assert [gate.detail for gate in answer.gates] == [
        "the policy says that something else places the pods of namespace team"
    ]
