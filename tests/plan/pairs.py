"""Random pairs of policies on a few nodes, with the manifests that `patch` makes of both."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from policykit.model.cluster import Cluster
from policykit.targets.workloads.patch_options import PatchOptions
from policykit.targets.workloads.stream import Source, patch
from tests.clusters import policy

Data = dict[str, Any]
USAGES = ("training", "inference", "hybrid")
_JOB = """\
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


class Pair(NamedTuple):
    """A change: two policies as data, and the manifests before and after by name."""

    before: Data
    after: Data
    old: dict[str, str]
    new: dict[str, str]


def pair(seed: int, *, pools: int = 3, nodes: int = 3, workloads: int = 4) -> Pair:
    """The same for the same seed."""
    chance = random.Random(seed)
    before = _valid(_policy(chance, pools, nodes))
    after = copy.deepcopy(before)
    for change in chance.sample(_CHANGES, chance.choice((1, 1, 2))):
        change(chance, after)
    after = _valid(after)
    manifests = {}
    for number in range(workloads):
        kind = chance.choice(list(before["workloads"]))
        text = _JOB.replace("NAME", f"w{number}").replace("KIND", kind)
        manifests[f"w{number}"] = text.replace("CARDS", str(chance.choice((1, 8))))
    old = {name: patched(text, policy(before)) for name, text in manifests.items()}
    new = {name: patched(text, policy(before), policy(after)) for name, text in manifests.items()}
    return Pair(before, after, old, new)


def patched(text: str, *clusters: Cluster) -> str:
    """Patched with one policy after the other, each taking out what the one before wrote; where one refuses,
    it stays as it is."""
    from policykit.errors import PolicykitError

    before: Cluster | None = None
    for cluster in clusters:
        try:
            text = patch(Source("a.yaml", text.encode()), cluster, PatchOptions(), before=before).raw.decode()
        except PolicykitError:
            return text
        before = cluster
    return text


def _valid(data: Data) -> Data:
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
        "workloads": {
            "training": {"usages": chance.choice([["training"], ["training", "hybrid"]])},
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


def _rename_pool(chance: random.Random, data: Data) -> None:
    name = chance.choice(sorted(data["pools"]))
    data["pools"][f"{name}-renamed"] = data["pools"].pop(name)


_CHANGES: list[Callable[[random.Random, Data], None]] = [
    *(_move, _rename_usage, _domain, _usage_of_a_pool, _usages_of_a_kind),
    *(_add_pool, _remove_pool, _scheme, _own_taint, _rename_pool),
]
