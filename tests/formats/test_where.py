"""Where pod sets can land: every verdict as text and as JSON."""

from __future__ import annotations

import json

import pytest

from policykit import api
from policykit.formats.where import json_text, text
from policykit.gates.pod_gates import Answer
from tests.clusters import profile

JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team-a}
spec:
  parallelism: PODS
  template:
    metadata: {labels: {policykit.io/workload: KIND}}
    spec:
      restartPolicy: Never
      tolerations:
      - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
      - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference:
              matchExpressions: [{key: maip.mxsf.io/node.usage, operator: In, values: [training]}]
      containers:
      - {name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 8}}}
"""


def reviewed(pods: str = "2", kind: str = "training") -> str:
    raw = JOB.replace(b"PODS", pods.encode()).replace(b"KIND", kind.encode())
    return text(Answer("a.yaml", review) for review in api.where(raw, profile("hybrid-volcano")))


def test_text() -> None:
    lines = reviewed().splitlines()
    assert lines[0].startswith("a.yaml:6  Job train  ")
    assert lines[0].endswith("  (2 pods, each requests 8 x nvidia.com/gpu)")
    assert lines[1].startswith("  workload kind training: ")
    assert lines[2] == "  preferred    train-h20   preference 100"
    assert lines[3].startswith("  refused      infer-h20   untolerated-taint: taint ")
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("pods", "says"),
    [("1", "(1 pod, "), ("2", "(2 pods, "), ("null", "(1 pod, "), ("x", "(unknown number of pods, ")],
)
def test_pods(pods: str, says: str) -> None:
    assert says in reviewed(pods)


def test_a_kind_that_the_policy_lacks() -> None:
    assert reviewed(kind="serving").splitlines()[1] == (
        "  no workload kind: label policykit.io/workload is 'serving', but the policy has training, inference"
    )


def test_json() -> None:
    raw = JOB.replace(b"PODS", b"2").replace(b"KIND", b"training")
    pairs = [Answer("a.yaml", review) for review in api.where(raw, profile("hybrid-volcano"))]
    (said,) = json.loads(json_text(pairs))["pod_sets"]
    assert (said["path"], said["pointer"], said["workload"]) == ("a.yaml", "/spec/template", "training")
    assert said["resource"] == {
        "api_version": "batch/v1",
        "kind": "Job",
        "namespace": "team-a",
        "name": "train",
    }
    assert said["decided_by"]
    assert [(pool["pool"], pool["verdict"], pool["reason"]) for pool in said["pools"]] == [
        ("train-h20", "preferred", None),
        ("infer-h20", "refused", "untolerated-taint"),
        ("hybrid-h20", "refused", "untolerated-taint"),
    ]


def test_nothing() -> None:
    assert text([]) == ""
    assert json.loads(json_text([])) == {"pod_sets": []}


PREFERENCES = b"""\
apiVersion: v1
kind: Pod
metadata: {name: serve, namespace: team-a}
spec:
  schedulerName: SCHEDULER
  tolerations: TOLERATIONS
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        preference: {matchExpressions: [{key: maip.mxsf.io/node.usage, operator: Exists}]}
      - weight: 60
        preference: {matchExpressions: [{key: maip.mxsf.io/node.usage, operator: In, values: [training]}]}
      - weight: 50
        preference: {matchExpressions: [{key: maip.mxsf.io/node.usage, operator: In, values: [inference]}]}
  containers:
  - {name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: CARDS}}}
"""


def lines_of(scheduler: str, tolerations: str = "[{operator: Exists}]", cards: str = "1") -> list[str]:
    """The lines of the pools."""
    raw = PREFERENCES.replace(b"SCHEDULER", scheduler.encode()).replace(b"TOLERATIONS", tolerations.encode())
    raw = raw.replace(b"CARDS", cards.encode())
    return text(
        Answer("a.yaml", review) for review in api.where(raw, profile("hybrid-volcano"))
    ).splitlines()[2:]


def test_a_close_preference_states_its_margin() -> None:
    assert lines_of("default-scheduler")[:2] == [
        "  preferred    train-h20   preference 160, 10 above infer-h20: other scores may outweigh it",
        "  accepted     infer-h20   preference 150",
    ]


def test_yunikorn_prefers_no_pool() -> None:
    assert lines_of("yunikorn")[0] == "  accepted     train-h20   preference 160, which YuniKorn ignores"


@pytest.mark.parametrize("scheduler", ["volcano", "yunikorn"])
def test_resources_first(scheduler: str) -> None:
    assert lines_of(scheduler, "[]", "99")[0].endswith(
        "resources: requests 99 nvidia.com/gpu, but its nodes have at most 8"
    )
    assert " untolerated-taint: " in lines_of("default-scheduler", "[]", "99")[0]


def test_volcano_names_affinity_before_taints() -> None:
    raw = PREFERENCES.replace(b"TOLERATIONS", b"[]").replace(b"CARDS", b"1")
    for scheduler, reason in (("volcano", "selector"), ("yunikorn", "untolerated-taint")):
        selecting = raw.replace(
            b"SCHEDULER", scheduler.encode() + b"\n  nodeSelector: {maip.mxsf.io/node.usage: other}"
        )
        (review,) = api.where(selecting, profile("hybrid-volcano"))
        assert review.landings[0].reason == reason


def test_yunikorn_never_looks_at_cordoned_nodes() -> None:
    """Unlike kube-scheduler and Volcano, whatever the pod tolerates; only pods of DaemonSets go there."""
    policy = profile("hybrid-volcano")
    cordoned = policy._replace(pools=tuple(pool._replace(unschedulable=True) for pool in policy.pools))
    raw = PREFERENCES.replace(b"TOLERATIONS", b"[{operator: Exists}]").replace(b"CARDS", b"1")
    for scheduler, reasons in (("yunikorn", {"unschedulable"}), ("volcano", {""})):
        (review,) = api.where(raw.replace(b"SCHEDULER", scheduler.encode()), cordoned)
        assert {landing.reason for landing in review.landings} == reasons
