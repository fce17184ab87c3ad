"""One policy for each scheduler that has words for gangs, closeness and spreading."""

from __future__ import annotations

from typing import Any

from policykit.model.cluster import Cluster
from tests.clusters import policy
from tests.test_loop import MIXED

BASE: dict[str, Any] = {**MIXED}
QUEUED: dict[str, Any] = {
    **BASE,
    "queues": {"research": {"weight": 2}},
    "priorities": {"high": {"value": 1000}},
    "workloads": {
        **BASE["workloads"],
        "training": {**BASE["workloads"]["training"], "queue": "research", "priorityClass": "high"},
    },
}
KOORDINATED: dict[str, Any] = {
    **QUEUED,
    "workloads": {
        **QUEUED["workloads"],
        "training": {**QUEUED["workloads"]["training"], "scheduler": "koord-scheduler"},
    },
    "targets": {"koordinator": {"version": "1.8.0"}},
}
LEVELS = {"zone": "topology.kubernetes.io/zone", "rack": "example.com/rack"}


def asking(scheduler: str, target: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The training kind of one scheduler, with more to say; the other kinds as ever."""
    training = {**QUEUED["workloads"]["training"], "scheduler": scheduler, **more}
    return {
        **QUEUED,
        "scheme": {"topology": LEVELS},
        "workloads": {**QUEUED["workloads"], "training": {key: v for key, v in training.items() if v}},
        "targets": target,
    }


ALL: dict[str, Any] = {
    "gang": "all",
    "within": {"level": "rack", "mode": "hard"},
    "across": {"level": "node", "mode": "soft", "skew": 2},
}
TARGETS: dict[str, tuple[str, dict[str, Any]]] = {
    "volcano": ("volcano", {"volcano": {}}),
    "old volcano": ("volcano", {"volcano": {"version": "1.11.0"}}),
    "koordinator": ("koord-scheduler", {"koordinator": {"version": "1.8.0"}}),
    "yunikorn": ("yunikorn", {"yunikorn": {}}),
    "kubernetes": ("", {}),
}
NATIVE = {**asking("", {"kubernetes": {"nativeGang": True}}, gang="all"), "kubernetes": "1.36"}
"""Gangs by the scheduling API of Kubernetes itself."""
DATA = {name: asking(scheduler, target, **ALL) for name, (scheduler, target) in TARGETS.items()} | {
    "native": NATIVE
}
CLUSTERS: dict[str, Cluster] = {name: policy(data) for name, data in DATA.items()}
