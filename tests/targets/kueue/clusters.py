"""Policies for tests of Kueue: two pools of eight-card nodes, shared by teams."""

from __future__ import annotations

from typing import Any

from policykit.model.cluster import Cluster
from tests.clusters import policy

GPU = "nvidia.com/gpu"
GIB = 1 << 30

POOLS: dict[str, Any] = {
    "train": {
        "usage": "training",
        "card": "h20",
        "nodes": {"names": ["train-[1-4]"]},
        "allocatable": {"cpu": 160, "memory": "800Gi"},
        "topology": {"zone": "a", "rack": "r1"},
    },
    "infer": {
        "usage": "inference",
        "card": "h20",
        "nodes": 2,
        "allocatable": {"cpu": 160, "memory": "800Gi"},
    },
}


def teams(**sections: Any) -> Cluster:
    """A policy of these pools, with sections in place of those here."""
    head: dict[str, Any] = {
        "domain": "a.example.com",
        "scheme": "seed",
        "cards": {"h20": {"product": "NVIDIA-H20"}},
        "pools": POOLS,
        "targets": {"kueue": {"version": "0.19.2"}},
    }
    return policy({**head, **sections})
