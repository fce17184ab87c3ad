"""Random policies with queues and gangs, the jobs that fill their clusters, and what must become of them.

Every job requests whole cards, so many a pod that its nodes can be filled to the last card: what a scheduler
must do follows from the numbers of the policy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

import yaml

from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster as Policy
from policykit.policy.load import load_text
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from policykit.workspace.files import read
from tests.cluster.scheduler import KOORDINATOR, YUNIKORN, System

Object = dict[str, Any]
CARD = "nvidia.com/gpu"


class Step(NamedTuple):
    """Jobs that are submitted together, or deleted, and the states that may follow."""

    jobs: tuple[Object, ...]
    allowed: tuple[Mapping[str, int], ...]
    """Bound pods of each job."""
    nodes: int | None = None
    """Nodes with pods; None: any number."""
    ends: str = ""
    """winner: first the job of which pods are bound is deleted."""
    waits: float = 3
    """Seconds for which the state must hold."""


class Fill(NamedTuple):
    """One scenario."""

    family: str
    policy: Policy
    steps: tuple[Step, ...]


class Room(NamedTuple):
    """A cluster in which pods of one size leave no card over."""

    nodes: int
    cards: int
    """Of a node."""
    size: int
    """Cards of a pod."""

    @property
    def pods(self) -> int:
        return self.nodes * self.cards // self.size

    @classmethod
    def draw(cls, random: Random) -> Room:
        cards = random.choice([4, 8])
        return cls(
            random.choice([2, 3, 4]), cards, random.choice([each for each in (1, 2, 4) if each < cards])
        )


class Draw(NamedTuple):
    """What a family draws from."""

    random: Random
    system: System
    room: Room

    def policy(self, **stated: Any) -> Policy:
        """The policy of its room; `stated`: what the family has besides."""
        kinds = stated.pop("kinds")
        target = {"version": self.system.version, **stated.pop("target", {})}
        names = {"names": [f"node-[1-{self.room.nodes}]"]}
        data = {
            "apiVersion": "policykit.io/v1alpha1",
            "kind": "Policy",
            "metadata": {"name": "random"},
            "domain": "ai.example.com",
            "kubernetes": "1.36",
            "cards": {"h20": {"product": "NVIDIA-H20"}},
            "pools": {
                "train": {
                    "usage": "training",
                    "card": "h20",
                    "cardsPerNode": self.room.cards,
                    "nodes": names,
                    "allocatable": {"cpu": self.random.choice([32, 96]), "memory": "512Gi"},
                }
            },
            "workloads": {
                name: {"usages": ["training"], "scheduler": self.system.scheduler_name, **kind}
                for name, kind in kinds.items()
            },
            "targets": {self.system.target: target},
            **stated,
        }
        return load_text(dump(data).encode(), "policykit.yaml", read).cluster

    def job(self, policy: Policy, name: str, kind: str, pods: int, queue: str = "") -> Object:
        """A Job as `patch` writes it for a workload kind."""
        amount = {CARD: str(self.room.size)}
        container = {"name": "main", "image": "registry.example/app:1", "resources": {"limits": amount}}
        written = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": {"policykit.io/workload": kind}},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                # Victims of preemption count as failures.
                "backoffLimit": 1000,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        }
        options = PatchOptions(queue=queue) if queue else PatchOptions()
        text = patch(ManifestText("job.yaml", dump(written).encode()), policy, options).raw
        return next(each for each in yaml.safe_load_all(text) if each["kind"] == "Job")


def _limit(draw: Draw) -> Fill:
    """A queue has no more than its limit."""
    room, random = draw.room, draw.random
    limit = random.randint(1, room.pods * room.size + room.cards)
    policy = draw.policy(
        kinds={"training": {"gang": "none", "queue": "a"}}, queues={"a": {"limit": {"h20": limit}}}
    )
    pods = room.pods + random.randint(0, 2)
    bound = min(pods, room.pods, limit // room.size)
    return Fill(
        "limit of a queue", policy, (Step((draw.job(policy, "one", "training", pods),), ({"one": bound},)),)
    )


def _gang(draw: Draw) -> Fill:
    """A gang starts whole or not at all."""
    policy = draw.policy(kinds={"training": {"gang": "all"}})
    pods = draw.random.randint(2, draw.room.pods + 2)
    bound = pods if pods <= draw.room.pods else 0
    return Fill(
        "gang, whole or none",
        policy,
        (Step((draw.job(policy, "one", "training", pods),), ({"one": bound},)),),
    )


def _rivals(draw: Draw) -> Fill:
    """Two gangs of which only one has room: one starts, and the other after it."""
    room, random = draw.room, draw.random
    policy = draw.policy(kinds={"training": {"gang": "all"}})
    one, other = (random.randint(room.pods // 2 + 1, room.pods) for _ in range(2))
    jobs = (draw.job(policy, "one", "training", one), draw.job(policy, "other", "training", other))
    first = Step(jobs, ({"one": one, "other": 0}, {"one": 0, "other": other}))
    second = Step((), ({"one": one}, {"other": other}), ends="winner")
    return Fill("two gangs, one after the other", policy, (first, second))


def _packing(draw: Draw) -> Fill:
    """Pods fill one node before the next, or spread over all."""
    room, random = draw.room, draw.random
    placement = random.choice(["binpack", "binpack", "spread"])
    policy = draw.policy(kinds={"training": {"gang": "none", "placement": placement}})
    each = room.cards // room.size
    # Koordinator packs every pod of a schedulerName, which `gen` says where a kind asks for something else.
    packs = placement == "binpack" or draw.system is KOORDINATOR
    count = random.randint(2, room.pods if packs else room.nodes)
    steps = []
    for number in range(1, count + 1):
        name = f"job-{number}"
        nodes = -(-number // each) if packs else number
        steps.append(
            Step(
                (draw.job(policy, name, "training", 1),),
                ({f"job-{known}": 1 for known in range(1, number + 1)},),
                nodes,
                waits=0,
            )
        )
    return Fill(f"packing: {placement}", policy, tuple(steps))


def _reclaim(draw: Draw) -> Fill:
    """A queue below what it is due takes it back from one above it, if the policy says so."""
    room, random = draw.room, draw.random
    due = random.randint(1, room.pods - 1)
    asked = random.randint(1, due)
    reclaims = random.choice([True, True, False])
    target: Object = {}
    if draw.system is KOORDINATOR:
        target = {"elasticQuota": {"delayEvictTime": "2s"}}
    if draw.system is YUNIKORN:
        target = {"queues": {"root": {"properties": {"preemption.delay": "1s"}}}}
    policy = draw.policy(
        kinds={"training": {"gang": "none"}},
        queues={
            "a": {
                "deserved": {"h20": (room.pods - due) * room.size},
                "limit": {"h20": room.pods * room.size},
            },
            "b": {"deserved": {"h20": due * room.size}, "limit": {"h20": room.pods * room.size}},
        },
        preemption={"reclaim": reclaims},
        target=target,
    )
    full = Step((draw.job(policy, "one", "training", room.pods, "a"),), ({"one": room.pods},))
    taken = asked if reclaims else 0
    job = draw.job(policy, "other", "training", asked, "b")
    then = Step((job,), ({"one": room.pods - taken, "other": taken},), waits=3 if reclaims else 15)
    return Fill(f"reclaim: {'on' if reclaims else 'off'}", policy, (full, then))


def _preemption(draw: Draw) -> Fill:
    """Pods of higher priority take the place of others in their queue, if the policy says so."""
    room, random = draw.room, draw.random
    asked = random.randint(1, room.pods)
    preempts = random.choice([True, True, False])
    policy = draw.policy(
        kinds={
            "urgent": {"gang": "none", "priorityClass": "high", "queue": "a"},
            "training": {"gang": "none", "priorityClass": "low", "queue": "a"},
        },
        priorities={"high": {"value": 1000}, "low": {"value": 10}},
        queues={"a": {"limit": {"h20": room.pods * room.size}}},
        preemption={"withinQueue": preempts},
    )
    taken = asked if preempts and draw.system is not YUNIKORN else 0
    full = Step((draw.job(policy, "one", "training", room.pods),), ({"one": room.pods},))
    job = draw.job(policy, "other", "urgent", asked)
    then = Step((job,), ({"one": room.pods - taken, "other": taken},), waits=3 if taken else 15)
    return Fill(f"preemption within a queue: {'on' if preempts else 'off'}", policy, (full, then))


FAMILIES: tuple[Callable[[Draw], Fill], ...] = (_limit, _gang, _rivals, _packing, _reclaim, _preemption)


def fills(system: System, count: int) -> list[Fill]:
    """Scenarios of all families by turns; always the same."""
    random = Random(count)
    return [
        FAMILIES[number % len(FAMILIES)](Draw(random, system, Room.draw(random))) for number in range(count)
    ]
