"""Fields of pods in the values of charts: told as warnings where the API server would refuse them."""

from __future__ import annotations

import pytest

from policykit import api

TOLERATION = "tolerations:\n- {key: nvidia.com/gpu, operator: Equals, effect: NoSchedule}\n"
OPERATOR = 'PK004 warning tolerations[0].operator is "Equals", which is not one of Equal, Exists, Lt, Gt'
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: serve, namespace: ml}
spec:
  interval: 1h
  chart: {spec: {chart: serve, sourceRef: {kind: HelmRepository, name: serve}}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: serve, namespace: argocd}
spec:
  project: default
  destination: {namespace: ml}
  source:
    repoURL: https://charts.example
    chart: serve
    targetRevision: 1.0.0
    helm:
"""


def indented(text: str, spaces: int) -> str:
    return "".join(" " * spaces + line for line in text.splitlines(keepends=True))


def found(text: str) -> list[str]:
    report = api.lint_texts({"values.yaml": text.encode()})
    assert report.failures == ()
    return [f"{f.span.line}:{f.span.column} {f.code} {f.severity} {f.message}" for f in report.findings]


REFUSED = {
    "a document of its own": (TOLERATION, [f"2:35 {OPERATOR}"]),
    "below other values": (f"serve:\n  worker:\n{indented(TOLERATION, 4)}", [f"4:39 {OPERATOR}"]),
    "in a list": (f"models:\n- name: a\n{indented(TOLERATION, 2)}", [f"4:37 {OPERATOR}"]),
    "of a HelmRelease": (f"{RELEASE}  values:\n{indented(TOLERATION, 4)}", [f"9:39 {OPERATOR}"]),
    "of an Application": (
        f"{APPLICATION}      valuesObject:\n{indented(TOLERATION, 8)}",
        [f"14:43 {OPERATOR}"],
    ),
    "of a kustomization": (
        f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"helmCharts:\n- name: serve\n  valuesInline:\n{indented(TOLERATION, 4)}",
        [f"7:39 {OPERATOR}"],
    ),
    "in a string": (f"{APPLICATION}      values: |\n{indented(TOLERATION, 8)}", [f"14:43 {OPERATOR}"]),
    "a toleration that contradicts itself": (
        "tolerations:\n- {key: a, operator: Exists, value: b}\n",
        ["2:37 PK116 warning invalid toleration: value is 'b', operator 'Exists' takes no value"],
    ),
    "a label that is not text": (
        "nodeSelector:\n  gpu: true\n",
        ["2:8 PK006 warning nodeSelector.gpu is the boolean true, but a label value must be a string"],
    ),
    "a part of a card": (
        "resources:\n  limits: {nvidia.com/gpu: 0.5}\n",
        ["2:28 PK201 warning nvidia.com/gpu is 0.5, but extended resources require integers"],
    ),
    "an amount of another kind": (
        "resources:\n  limits: {memory: 16GB}\n",
        ['2:20 PK005 warning limits.memory is "16GB", which is not a quantity'],
    ),
    "affinity one level too high": (
        "affinity:\n  requiredDuringSchedulingIgnoredDuringExecution:\n    nodeSelectorTerms:\n"
        "    - matchExpressions: [{key: a, operator: Exists}]\n",
        [
            "2:3 PK003 warning unknown field affinity.requiredDuringSchedulingIgnoredDuringExecution: it "
            "belongs in affinity.nodeAffinity"
        ],
    ),
    "a spread over nothing": (
        "topologySpreadConstraints:\n- {maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}\n",
        ["2:13 PK004 warning topologySpreadConstraints[0].maxSkew is 0, the minimum is 1"],
    ),
}


@pytest.mark.parametrize(("text", "findings"), list(REFUSED.values()), ids=list(REFUSED))
def test_what_the_api_server_would_refuse(text: str, findings: list[str]) -> None:
    assert found(text) == findings


QUIET = {
    "valid": "tolerations: [{key: a, operator: Exists}]\nnodeSelector: {a: b}\n",
    "a card": "resources: {limits: {nvidia.com/gpu: 1}}\n",
    "a chart's own affinity": "affinity: {podAntiAffinity: soft, nodeAffinity: {type: hard}}\nlimits: {}\n",
    "a switch": "nodeSelector: {enabled: true, key: a}\nresources: {enabled: true, limits: {cpu: 1}}\n",
    "one label": "nodeSelector:\n  key: example.com/pool\n  value: example.com/infra\n",
    "a schema of two types": 'nodeSelector: {type: [object, "null"]}\nresources: {limits: {cpu: 1}}\n',
    "a schema": "nodeSelector: {type: object, additionalProperties: true}\n",
    "amounts that are filled in": 'resources: {limits: {memory: "", cpu: ""}}\n',
    "a daemon on every node": "tolerations: [{operator: Exists}]\n",
    "a daemon on one node": "nodeSelector: {kubernetes.io/hostname: gpu-1}\n",
    "what a template fills in": 'tolerations:\n- {key: "{{ .Values.key }}", operator: "{{ .Values.op }}"}\n',
    "what Flux fills in": "tolerations:\n- {key: a, operator: ${OPERATOR}}\n",
    "the rest of a list that is no pod's": "tolerations: [small, large]\nnodeSelector: gpu\n",
    "Docker Compose": "services:\n  a: {deploy: {resources: {limits: {cpus: '0.5', memory: 2gb}}}}\n",
}


@pytest.mark.parametrize("text", list(QUIET.values()), ids=list(QUIET))
def test_what_a_chart_may_read_otherwise(text: str) -> None:
    assert found(text) == []
