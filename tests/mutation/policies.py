"""The policies that manifests are linted under, with and without being patched for them first."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from policykit.model.cluster import Cluster
from tests.clusters import cluster, policy, profile
from tests.rules.test_cases import BY_NAME, of_page
from tests.test_corpus import GKE

KOORDINATOR: Mapping[str, Any] = {
    "domain": "ai.example.com",
    "scheme": "seed",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "train": {
            "usage": "training",
            "card": "h20",
            "nodes": 16,
            "allocatable": {"cpu": 180, "memory": "1900Gi"},
        },
        "infer": {
            "usage": "inference",
            "card": "h20",
            "nodes": 8,
            "allocatable": {"cpu": 180, "memory": "1900Gi"},
        },
    },
    "priorities": {"batch": {"value": 1000}},
    "queues": {
        "research": {"guarantee": {"h20": 64}, "limit": {"h20": 128}},
        "team-a": {"parent": "research", "guarantee": {"h20": 32}, "limit": {"h20": 64}},
    },
    "workloads": {
        "training": {
            "usages": ["training"],
            "prefer": {"training": 100},
            "scheduler": "koord-scheduler",
            "gang": "all",
            "placement": "binpack",
            "queue": "team-a",
        },
        "inference": {
            "usages": ["inference"],
            "prefer": {"inference": 100},
            "scheduler": "koord-scheduler",
            "placement": "binpack",
        },
    },
    "targets": {"koordinator": {"version": "1.8.0"}},
}

VOLCANO: Mapping[str, Any] = {
    "domain": "ai.example.com",
    "scheme": "seed",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "train": {
            "usage": "training",
            "card": "h20",
            "nodes": 16,
            "allocatable": {"cpu": 180, "memory": "1900Gi"},
        },
        "infer": {
            "usage": "inference",
            "card": "l20",
            "nodes": 8,
            "allocatable": {"cpu": 90, "memory": "900Gi"},
        },
    },
    "priorities": {"urgent": {"value": 100000}},
    "queues": {
        "default": {"weight": 1},
        "research": {"weight": 2, "guarantee": {"h20": 32}, "limit": {"h20": 64}},
    },
    "workloads": {
        "training": {
            "usages": ["training"],
            "prefer": {"training": 100},
            "scheduler": "volcano",
            "gang": "all",
            "placement": "binpack",
            "queue": "research",
        },
        "inference": {"usages": ["inference"], "prefer": {"inference": 100}},
    },
    "targets": {"volcano": {"version": "1.15.1", "delivery": "manifest"}},
}

LABELLED: Mapping[str, Any] = {
    "domain": "ai.example.com",
    "scheme": {"preset": "seed", "usage": {"taint": False}},
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "train": {"usage": "training", "card": "h20", "nodes": 16},
        "hybrid": {"usage": "hybrid", "card": "h20", "nodes": 4},
        "infer": {"usage": "inference", "card": "h20", "nodes": 8},
        "system": {"nodes": 3},
    },
    "workloads": {
        "training": {"usages": ["training", "hybrid"], "prefer": {"training": 100}},
        "inference": {"usages": ["inference", "hybrid"], "prefer": {"inference": 100, "hybrid": 10}},
    },
}
"""Usages are labels, no taints: nothing but an affinity keeps pods where they belong."""

COMPLETE: Mapping[str, Any] = {
    "domain": "ai.example.com",
    "scheme": "seed",
    "coverage": "complete",
    "cards": {"h20": {"product": "NVIDIA-H20"}, "l20": {"product": "NVIDIA-L20"}},
    "pools": {
        "large": {"usage": "training", "card": "h20", "nodes": 8},
        "small": {"usage": "training", "card": "l20", "nodes": 8},
        "web": {
            "nodes": 3,
            "labels": {"example.com/pool": "web"},
            "taints": ["example.com/pool=web:NoSchedule"],
        },
    },
    "workloads": {
        "training": {"usages": ["training"], "prefer": {"training": 100}},
        "web": {"cards": "none"},
    },
}
"""Two cards for one usage, a pool without any, and no node that is not listed."""

NAMES = (
    "none",
    "hybrid-volcano",
    "volcano-queues",
    "gke",
    "labelled",
    "koordinator",
    "koordinator-binpack",
    "teams-yunikorn",
    "packed-kube-scheduler",
    "complete",
)

PATCHING = (
    "hybrid-volcano",
    "volcano-queues",
    "gke",
    "labelled",
    "koordinator",
    "teams-yunikorn",
    "complete",
)
"""Those whose workload kinds the cards of real manifests fit."""
WITHOUT_CARDS = ("complete",)
"""Those with a workload kind for pods that ask for none."""
_PAGE = "page of "


_WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "gke": GKE,
    "labelled": LABELLED,
    "koordinator": KOORDINATOR,
    "volcano-queues": VOLCANO,
    "complete": COMPLETE,
}


def page_of(name: str) -> str:
    """The name of the policy that a rule's page is read with."""
    return f"{_PAGE}{name}"


@cache
def under(name: str) -> Cluster | None:
    """The policy of a name; `none`: linted without one."""
    if name == "none":
        return None
    if name.startswith(_PAGE):
        return cluster(of_page(BY_NAME[name.removeprefix(_PAGE)]))
    return policy(dict(_WRITTEN[name])) if name in _WRITTEN else profile(name)
