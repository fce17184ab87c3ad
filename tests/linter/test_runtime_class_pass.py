"""What a RuntimeClass of another file adds to pods decides where they land, in lint and in where."""

from __future__ import annotations

import pytest

from policykit import api
from policykit.gates import ACCEPTED, REFUSED, UNKNOWN
from tests.clusters import policy

CLUSTER = {
    "coverage": "complete",
    "scheme": {"preset": "plain", "usage": False, "product": False},
    "cards": {"g": {"product": "Tesla-T4"}},
    "pools": {
        "gpu": {
            "card": "g",
            "nodes": 2,
            "taints": ["dedicated=gpu:NoSchedule"],
            "labels": {"runtime": "kata"},
            "allocatable": {"cpu": 16, "memory": "64Gi"},
        },
        "cpu": {"nodes": 3, "labels": {"runtime": "runc"}},
    },
}
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: team}
spec:
  runtimeClassName: %s
  containers:
  - name: main
    image: registry.example/app:1
    resources: {requests: {cpu: 15, memory: 60Gi}, limits: {nvidia.com/gpu: 1}}
"""
CLASS = """\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: %s}
handler: kata
%s
"""
TOLERATES = "scheduling: {tolerations: [{key: dedicated, operator: Exists}]}"
OTHER_TAINT = "scheduling: {tolerations: [{key: other, operator: Exists}]}"
OTHER_NODES = "scheduling: {nodeSelector: {runtime: runc}, tolerations: [{operator: Exists}]}"
OVERHEAD = f"{TOLERATES}\noverhead: {{podFixed: {{cpu: 1500m}}}}"
ROWS = [
    # class of the pod, class beside it, what is found, what where says
    ("kata", ("kata", TOLERATES), [], ACCEPTED),
    ("kata", ("kata", OTHER_TAINT), ["PK101"], REFUSED),
    ("kata", ("kata", ""), ["PK101"], REFUSED),
    ("kata", ("kata", OTHER_NODES), ["PK102"], REFUSED),
    ("kata", ("kata", OVERHEAD), ["PK203"], REFUSED),
    ("kata", ("gvisor", TOLERATES), [], UNKNOWN),
    ("kata", None, [], UNKNOWN),
    ("nvidia", None, ["PK101"], REFUSED),
    ("nvidia", ("nvidia", TOLERATES), [], ACCEPTED),
]


def texts(named: str, beside: tuple[str, str] | None) -> dict[str, bytes]:
    found = {"pod.yaml": (POD % named).encode()}
    return found | {"runtime.yaml": (CLASS % beside).encode()} if beside else found


@pytest.mark.parametrize(("named", "beside", "codes", "state"), ROWS)
def test_what_it_adds(named: str, beside: tuple[str, str] | None, codes: list[str], state: str) -> None:
    workspace = api.workspace_of(texts(named, beside), api.setting(policy(CLUSTER)))
    found = [one for one in api.lint(workspace).findings if one.severity.value == "error"]
    assert [one.code for one in found] == codes
    answers = api.unit_answers(workspace, complete=True).found
    assert [one.state for one in answers] == [state]


def test_two_that_differ() -> None:
    both = {**texts("kata", ("kata", TOLERATES)), "other.yaml": (CLASS % ("kata", "")).encode()}
    assert not api.lint_texts(both, policy(CLUSTER), ["PK101"]).findings


def test_one_file_knows_the_class_of_its_scope() -> None:
    workspace = api.workspace_of(texts("kata", ("kata", OTHER_TAINT)), api.setting(policy(CLUSTER)))
    alone = workspace._replace(input_files=workspace.input_files[:1])
    assert [(one.code, one.span.line) for one in api.lint(alone).findings if one.code == "PK101"] == [
        ("PK101", 5)
    ]
