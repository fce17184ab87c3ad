"""Queues and quotas of a change: what waits for what, and who uses what goes or falls."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from policykit import api
from policykit.importer.files import objects
from policykit.manifests.document import Manifest
from policykit.plan.plan import Live, Plan, make_plan
from policykit.plan.queues import queue_changes
from tests.clusters import policy

GPU = "nvidia.com/gpu"
BASE: dict[str, Any] = {
    "domain": "a.example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"train": {"usage": "training", "card": "h20", "nodes": 4}},
    "workloads": {"training": {"usages": ["training"], "scheduler": "volcano"}},
    "queues": {
        "org": {"limit": {GPU: 32}},
        "a": {"parent": "org", "limit": {GPU: 32}},
        "b": {"parent": "org", "limit": {GPU: 16}},
    },
    "quotas": {"ml": {"namespace": "ml", "requests": {GPU: 32}}},
    "targets": {"volcano": {"version": "1.15.1"}},
}


def changed(**queues: Any) -> dict[str, Any]:
    """The policy with other queues; None: without one."""
    data = copy.deepcopy(BASE)
    data["queues"] = {name: each for name, each in {**data["queues"], **queues}.items() if each is not None}
    return data


def one(data: dict[str, Any]) -> Manifest:
    return next(objects(json.dumps(data), "a.json"))


def queue(name: str, **allocated: int) -> Manifest:
    amounts = {resource.replace("gpu", GPU): str(number) for resource, number in allocated.items()}
    return one(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "status": {"allocated": amounts},
        }
    )


def pod(queue: str, cards: int, phase: str = "Running") -> Manifest:
    return one(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "p",
                "namespace": "ml",
                "annotations": {"scheduling.volcano.sh/queue-name": queue},
            },
            "spec": {"containers": [{"name": "a", "resources": {"limits": {GPU: str(cards)}}}]},
            "status": {"phase": phase},
        }
    )


def planned(after: dict[str, Any], *manifests: str, **live: Any) -> Plan:
    old, new = policy(BASE), policy(after)
    was, will = (
        [("a.yaml", each) for text in manifests for each in api.where(text.encode(), cluster)]
        for cluster in (old, new)
    )
    return make_plan(old, new, was, will, Live(**live))


def effects(plan: Plan) -> list[str]:
    return [f"{each.who}: {each.message}" for each in plan.effects]


@pytest.mark.parametrize(
    ("queues", "fallen"),
    [
        ({"org": {"limit": {GPU: 8}}, "a": {"parent": "org", "limit": {GPU: 8}}}, ("a",)),
        ({"org": {"limit": {GPU: 64}}, "a": {"parent": "org", "limit": {GPU: 64}}}, ()),
        ({"a": {"parent": "org", "limit": {GPU: 8}}}, ()),
        (
            {"org": {"limit": {GPU: 32, "cpu": 8}}, "a": {"parent": "org", "limit": {GPU: 32, "cpu": 4}}},
            ("a",),
        ),
        ({"org": {}, "a": {"parent": "org"}}, ()),
    ],
    ids=["lowered", "raised", "only a child", "limited for the first time", "unlimited"],
)
def test_children_are_lowered_before_their_parents(queues: dict[str, Any], fallen: tuple[str, ...]) -> None:
    assert queue_changes(policy(BASE), policy(changed(**queues))).fallen == fallen


def test_queues_go_children_first() -> None:
    found = queue_changes(policy(BASE), policy(changed(org=None, a=None, b=None)))
    assert found.gone == ("a", "b", "org")


def test_a_queue_with_pods_becomes_no_parent() -> None:
    plan = planned(changed(b={"parent": "a"}))
    assert [step.when for step in plan.steps] == ["wait until", "merge"]
    assert plan.steps[0].text.startswith("queue a: empty, before it becomes the parent of b.")
    empty = planned(changed(b={"parent": "a"}), queues=(queue("a"),))
    assert ([step.when for step in empty.steps], empty.is_harmless) == (["merge"], True)
    used = planned(changed(b={"parent": "a"}), queues=(queue("a", gpu=8),))
    assert effects(used) == ["queue a: becomes a parent, but 8 nvidia.com/gpu are allocated from it"]


def test_an_older_release_has_no_parents() -> None:
    old, new = copy.deepcopy(BASE), changed(b={"parent": "a"})
    old["targets"] = new["targets"] = {"volcano": {"version": "1.10.2"}}
    assert queue_changes(policy(old), policy(new)).parents == {}


def test_an_empty_queue_goes_at_once() -> None:
    plan = planned(changed(b=None))
    assert [step.when for step in plan.steps] == ["wait until", "merge"]
    assert plan.steps[0].text == (
        "queue b: empty. Until then it stays in the policy: deleting a queue does not wait for its pods."
    )
    plan = planned(changed(b=None), queues=(queue("b"),))
    assert ([step.when for step in plan.steps], plan.is_harmless) == (["merge"], True)
    assert plan.steps[0].commands == ("policykit gen --prune",)


def test_running_pods_and_live_queues_above_a_lowered_limit() -> None:
    lowered = changed(a={"parent": "org", "limit": {GPU: 16}})
    lowered["quotas"]["ml"]["requests"] = {GPU: 16}
    pods = (pod("a", 16), pod("a", 8), pod("b", 8, "Succeeded"))
    assert effects(planned(lowered, pods=pods, queues=(queue("a", gpu=20),))) == [
        f"queue a: limit of {GPU} falls to 16, but running pods request 24",
        f"queue a: limit of {GPU} falls to 16, but 20 are allocated",
        f"quota ml/ml: requests of {GPU} falls to 16, but running pods request 24",
    ]
    assert effects(planned(lowered, pods=pods[1:])) == []
