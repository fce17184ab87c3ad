"""Findings that a change of pods at admission may settle are not errors where something changes pods."""

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
metadata: {name: train, namespace: team, labels: {app: train}}
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
OF_LABELS = COLOCATION.replace("spec: {", "spec: {selector: {matchLabels: {app: %s}}, ")
OF_NAMESPACE = COLOCATION.replace("spec: {", "spec: {namespaceSelector: {%s}, ")
GATEKEEPER = """\
apiVersion: mutations.gatekeeper.sh/v1
kind: Assign
metadata: {name: placing}
spec:
  applyTo: [{groups: [""], kinds: [Pod], versions: [v1]}]
  match: {namespaces: [%s]}
  location: spec.%s
  parameters: {assign: {value: [{operator: Exists}]}}
"""
WEBHOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: placing}
webhooks:
- name: %s
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://placing.example"}
  namespaceSelector: {%s}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [%s]}]
"""
OF_OTHER = "matchLabels: {kubernetes.io/metadata.name: other}"
OF_TEAM = "matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team, other]}]"
NEWER_KYVERNO = """\
apiVersion: policies.kyverno.io/v1alpha1
kind: MutatingPolicy
metadata: {name: placing}
spec:
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}"}
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
        (OF_LABELS % "train", "warning"),
        (OF_LABELS % "'${APP}'", "warning"),
        (OF_LABELS % "web", "error"),
        (f"{OF_LABELS % 'web'}---\n{OF_LABELS % 'train'}", "warning"),
        (KYVERNO.replace("[Pod]", "[Pod], namespaces: [other]") % ("ClusterPolicy", "''", TOLERATE), "error"),
        (KYVERNO.replace("[Pod]", "[Pod], namespaces: [te*]") % ("ClusterPolicy", "''", TOLERATE), "warning"),
        (NEWER_KYVERNO, "warning"),
        (GATEKEEPER % ("team", "tolerations"), "warning"),
        (GATEKEEPER % ("other", "tolerations"), "error"),
        (GATEKEEPER % ("team", "dnsConfig"), "error"),
        (WEBHOOK % ("placing.example", "", "pods"), "warning"),
        (WEBHOOK % ("placing.example", "", "services"), "error"),
        (WEBHOOK % ("placing.example", OF_TEAM, "pods"), "warning"),
        (WEBHOOK % ("placing.example", OF_OTHER, "pods"), "error"),
        (
            f"{WEBHOOK}  objectSelector: {{matchLabels: {{app: web}}}}" % ("placing.example", "", "pods"),
            "error",
        ),
        (
            f"{WEBHOOK}  objectSelector: {{matchLabels: {{app: train}}}}" % ("placing.example", "", "pods"),
            "warning",
        ),
        (
            f"{WEBHOOK}  objectSelector: {{matchLabels: {{app: web}}}}"
            % ("placing.example", "", "pods, jobs"),
            "warning",
        ),
        (WEBHOOK % ("rev.object.sidecar-injector.istio.io", "", "pods"), "error"),
        (NAMESPACE, "warning"),
        (OF_NAMESPACE % OF_TEAM, "warning"),
        (OF_NAMESPACE % OF_OTHER, "error"),
    ],
)
def test_a_missing_toleration(beside: str, said: str) -> None:
    texts = {"pod.yaml": POD.encode(), "beside.yaml": beside.encode()}
    found = api.lint_texts(texts, policy(CLUSTER)).findings
    assert [one.severity.value for one in found if one.code == "PK101"] == [said]


@pytest.mark.parametrize(
    ("beside", "state"),
    [
        ("", REFUSED),
        (KYVERNO % ("ClusterPolicy", "''", TOLERATE), UNKNOWN),
        (OF_LABELS % "train", UNKNOWN),
        (OF_LABELS % "web", REFUSED),
    ],
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
