"""Random pairs of policies on a few nodes, with the manifests that `patch` makes of both.

Nodes have 8 cards or 4. Workloads of kind training are gangs: Jobs, and Volcano Jobs of two tasks.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import ManifestText, patch
from tests.clusters import policy

Data = dict[str, Any]
USAGES = ("training", "inference", "hybrid")
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME, policykit.io/workload: KIND}}
    spec:
      containers:
        - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: CARDS}}}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  parallelism: PODS
  completions: PODS
  template:
    metadata: {labels: {policykit.io/workload: KIND}}
    spec:
      restartPolicy: Never
      containers:
        - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: CARDS}}}
"""
VOLCANO_JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: NAME}
spec:
  minAvailable: ALL
  schedulerName: volcano
  tasks:
    - name: master
      replicas: 1
      template:
        metadata: {labels: {policykit.io/workload: KIND}}
        spec:
          restartPolicy: Never
          containers:
            - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: 2}}}
    - name: worker
      replicas: PODS
      template:
        metadata: {labels: {policykit.io/workload: KIND}}
        spec:
          restartPolicy: Never
          containers:
            - {name: a, image: 'registry.example/a:1', resources: {limits: {nvidia.com/gpu: CARDS}}}
"""


class Pair(NamedTuple):
    """A change: two policies as data, and the manifests before and after by name."""

    before: Data
    after: Data
    old: dict[str, str]
    new: dict[str, str]
    rack: str = ""
    """The label of racks, in one of which a gang must be; empty: it may be anywhere."""


def pair(seed: int, *, pools: int = 3, nodes: int = 3, workloads: int = 4) -> Pair:
    """The same for the same seed."""
    chance = random.Random(seed)
    before = _policy(chance, pools, nodes)
    if chance.random() < 0.3:
        _own_taints(chance, before)
    after = copy.deepcopy(before)
    for change in chance.sample(_CHANGES, chance.choice((1, 1, 2))):
        change(chance, after)
    small = {
        name
        for data in (before, after)
        for pool in data["pools"].values()
        for name in pool["nodes"]["names"]
        if chance.random() < 0.25
    }
    racks = chance.random() < 0.3
    before, after = (sized(_racked(valid(data), racks), small) for data in (before, after))
    manifests = {f"w{number}": _manifest(chance, f"w{number}") for number in range(workloads)}
    old = {name: patched(text, policy(before)) for name, text in manifests.items()}
    new = {name: patched(text, policy(after), before=policy(before)) for name, text in old.items()}
    same = racks and before["domain"] == after["domain"]
    return Pair(before, after, old, new, f"{before['domain']}/rack" if same else "")


def _racked(data: Data, racks: bool) -> Data:
    """With nodes in two racks, by the last letter of their names, and gangs that stay within one."""
    if racks:
        data["workloads"]["training"]["within"] = {"level": "rack", "mode": "hard"}
        for pool in data["pools"].values():
            parts: dict[str, list[str]] = {}
            for name in pool["nodes"]["names"]:
                parts.setdefault(f"r{ord(name[-1]) % 2}", []).append(name)
            pool["topology"] = [{"nodes": names, "rack": rack} for rack, names in sorted(parts.items())]
    return data


def patched(text: str, *clusters: Cluster, before: Cluster | None = None) -> str:
    """Patched with one policy after the other, each taking out what the one before wrote, the first one what
    `before` did; where one refuses, it stays as it is."""
    from policykit.errors import PolicykitError

    for cluster in clusters:
        with suppress(PolicykitError):
            text = patch(
                ManifestText("a.yaml", text.encode()), cluster, PatchOptions(), before=before
            ).raw.decode()
        before = cluster
    return text


def _manifest(chance: random.Random, name: str) -> str:
    kind = chance.choice(("training", "inference"))
    template = chance.choice((JOB, VOLCANO_JOB)) if kind == "training" else DEPLOYMENT
    pods = chance.randint(2, 3)
    return manifest(template, name, kind, pods, chance.choice((4, 8) if kind == "training" else (1, 8)))


def manifest(template: str, name: str, kind: str, pods: int, cards: int) -> str:
    """A Deployment, Job or Volcano Job, whose master is one more pod."""
    words = {"NAME": name, "KIND": kind, "PODS": pods, "ALL": pods + 1, "CARDS": cards}
    for word, value in words.items():
        template = template.replace(word, str(value))
    return template


def sized(data: Data, small: set[str]) -> Data:
    """With 4 cards on some nodes."""
    for pool in data["pools"].values():
        names = pool["nodes"]["names"]
        few, many = (sorted(name for name in names if (name in small) == wanted) for wanted in (True, False))
        sizes = [
            *([{"nodes": {"names": many}}] if many else []),
            *([{"nodes": {"names": few}, "allocatable": {"nvidia.com/gpu": 4}}] if few else []),
        ]
        pool["nodes"] = sizes
    return data


def valid(data: Data) -> Data:
    """Without usages of kinds that no pool has."""
    there = sorted({pool["usage"] for pool in data["pools"].values()})
    for kind in data["workloads"].values():
        kind["usages"] = [usage for usage in kind["usages"] if usage in there] or there[:1]
    return data


def _policy(chance: random.Random, pools: int, nodes: int) -> Data:
    return {
        "domain": "a.example.com",
        "coverage": "complete",
        "scheme": chance.choice(["seed", "seed", "plain", {"preset": "seed", "product": {"taint": False}}]),
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": {
            f"p{number}": {
                "usage": chance.choice(USAGES),
                "card": "h20",
                "nodes": {"names": [f"n{number}{each}" for each in range(chance.randint(1, nodes))]},
            }
            for number in range(pools)
        },
        "targets": {"volcano": {"version": "1.15.1"}},
        "workloads": {
            "training": {
                "usages": chance.choice([["training"], ["training", "hybrid"]]),
                "scheduler": "volcano",
                "gang": "all",
            },
            "inference": {"usages": chance.choice([["inference"], ["hybrid", "inference"]])},
        },
    }


def _move(chance: random.Random, data: Data) -> None:
    """Nodes from one pool to another."""
    source, target = chance.sample(sorted(data["pools"]), 2)
    names = data["pools"][source]["nodes"]["names"]
    number = chance.randint(1, len(names))
    data["pools"][target]["nodes"]["names"] += names[:number]
    data["pools"][source]["nodes"]["names"] = names[number:]
    if not names[number:]:
        del data["pools"][source]


def _rename_usage(chance: random.Random, data: Data) -> None:
    old = chance.choice(USAGES)
    for pool in data["pools"].values():
        pool["usage"] = "renamed" if pool["usage"] == old else pool["usage"]
    for kind in data["workloads"].values():
        kind["usages"] = ["renamed" if usage == old else usage for usage in kind["usages"]]


def _domain(chance: random.Random, data: Data) -> None:
    data["domain"] = "b.example.com"


def _usage_of_a_pool(chance: random.Random, data: Data) -> None:
    data["pools"][chance.choice(sorted(data["pools"]))]["usage"] = chance.choice(USAGES)


def _usages_of_a_kind(chance: random.Random, data: Data) -> None:
    kind = data["workloads"][chance.choice(sorted(data["workloads"]))]
    kind["usages"] = chance.sample(USAGES, chance.randint(1, 2))


def _add_pool(chance: random.Random, data: Data) -> None:
    data["pools"]["new"] = {"usage": chance.choice(USAGES), "card": "h20", "nodes": {"names": ["x1", "x2"]}}


def _remove_pool(chance: random.Random, data: Data) -> None:
    del data["pools"][chance.choice(sorted(data["pools"]))]


def _scheme(chance: random.Random, data: Data) -> None:
    data["scheme"] = chance.choice(["seed", "plain", {"preset": "seed", "usage": {"taint": False}}])


def _own_taint(chance: random.Random, data: Data) -> None:
    pool = data["pools"][chance.choice(sorted(data["pools"]))]
    pool["taints"] = ["team=a:NoSchedule"]


def _effect_of_usage(chance: random.Random, data: Data) -> None:
    data["scheme"] = {"preset": "seed", "usage": {"taint": {"effect": "NoExecute"}}}


def _own_taints(chance: random.Random, data: Data) -> None:
    """Own taints of some pools, whose key or effect may differ from those of others."""
    for name in data["pools"]:
        if chance.random() < 0.6:
            key, effect = chance.choice("ab"), chance.choice(("NoSchedule", "NoExecute"))
            data["pools"][name]["taints"] = [f"{key}=x:{effect}"]


def _rename_pool(chance: random.Random, data: Data) -> None:
    name = chance.choice(sorted(data["pools"]))
    data["pools"][f"{name}-renamed"] = data["pools"].pop(name)


_CHANGES: list[Callable[[random.Random, Data], None]] = [
    *(_move, _rename_usage, _domain, _usage_of_a_pool, _usages_of_a_kind),
    *(_add_pool, _remove_pool, _scheme, _own_taint, _rename_pool),
    *(_own_taints, _effect_of_usage),
]
