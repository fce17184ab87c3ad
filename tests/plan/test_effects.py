"""Who feels a change, one case for each kind of effect."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from policykit import api
from policykit.plan.effects import Effect
from policykit.plan.plan import make_plan
from tests.clusters import policy
from tests.plan.pairs import patched

BASE: dict[str, Any] = {
    "domain": "a.example.com",
    "coverage": "complete",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 4}},
    "workloads": {"training": {"usages": ["training"], "gang": "all", "scheduler": "volcano", "queue": "a"}},
    "queues": {"a": {"limit": {"nvidia.com/gpu": 32}}},
    "quotas": {"ml": {"namespace": "ml", "requests": {"nvidia.com/gpu": 32}}},
    "targets": {"volcano": {"version": "1.15.1"}},
}
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: big, namespace: ml}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {labels: {policykit.io/workload: training}}
    spec:
      restartPolicy: Never
      containers:
        - name: a
          image: registry.example/a:1
          resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 8}}
"""


def effects(change: dict[str, Any], text: str) -> list[Effect]:
    data = copy.deepcopy(BASE)
    for path, value in change.items():
        *above, last = path.split(".")
        place = data
        for step in above:
            place = place[step]
        place[last] = value
    old, new = policy(BASE), policy(data)
    reviews = [[("a.yaml", each) for each in api.where(text.encode(), one)] for one in (old, new)]
    return list(make_plan(old, new, reviews[0], reviews[1]).effects)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"pools.train.nodes": 2}, "gang", "the gang of 4 pods no longer fits: its nodes hold 2, before 4"),
        (
            {"pools.train.nodes": 3},
            "fewer nodes",
            "lands on 3 nodes with 24 cards (train); before on 4 nodes with 32 cards (train)",
        ),
        (
            {"queues.a.limit": {"nvidia.com/gpu": 16}},
            "queue",
            "limit of nvidia.com/gpu falls to 16, but the manifests request 32",
        ),
        (
            {"quotas.ml.requests": {"nvidia.com/gpu": 8}},
            "quota",
            "requests of nvidia.com/gpu falls to 8, but the manifests request 32",
        ),
    ],
    ids=["gang", "fewer nodes", "queue", "quota"],
)
def test_effects_on_a_patched_workload(change: dict[str, Any], kind: str, message: str) -> None:
    found = effects(change, patched(JOB, policy(BASE)))
    assert message in [each.message for each in found if each.kind == kind]


def test_a_second_card_is_told_for_manifests_that_name_none() -> None:
    more = {"usage": "training", "card": "l20", "nodes": 2}
    (found,) = [each for each in effects({"pools.more": more}, JOB) if each.kind == "unpatched"]
    assert found.who == "Job ml/big"
    assert found.message.startswith("`policykit patch` will refuse it: h20, l20 offer what it requests.")


def test_what_only_gets_more_is_not_told() -> None:
    text = patched(JOB, policy(BASE))
    assert effects({"pools.train.nodes": 8}, text) == []
    assert effects({"queues.a.limit": {"nvidia.com/gpu": 64}}, text) == []
