"""All objects of one policy: found again with their places, and free of findings."""

from typing import Any

import pytest

from policykit.api import lint_texts
from policykit.manifests.parser import parse
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.targets.koordinator.objects import files as objects
from tests.clusters import policy
from tests.targets.koordinator.crds import needs_crds, problems

POLICY: dict[str, Any] = {
    "domain": "example.com",
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {
        "train": {"usage": "training", "card": "h20", "nodes": 4},
        "serve": {"usage": "inference", "card": "h20", "nodes": 2},
    },
    "scheme": {"topology": {"rack": "example.com/rack"}},
    "queues": {
        "research": {"limit": {"h20": 32}},
        "team-a": {"parent": "research", "guarantee": {"h20": 8}, "weight": 2},
        "serving": {"deserved": {"h20": 8, "cpu": 100}},
    },
    "preemption": {"reclaim": True},
    "tenants": {"a": {"namespaces": ["a-dev"], "queue": "team-a"}},
    "workloads": {
        "training": {
            "usages": ["training"],
            "scheduler": "koord-scheduler",
            "gang": "all",
            "within": {"level": "rack", "mode": "hard"},
            "queue": "team-a",
        },
        "inference": {"usages": ["inference"], "scheduler": "koord-scheduler", "queue": "serving"},
    },
    "reservations": {
        "eval": {"tenant": "a", "workload": "training", "pool": "train", "requests": {"h20": 8}, "pods": 2}
    },
}


def made(version: str) -> Cluster:
    colocation = {"workloads": {"inference": {"priority": "mid"}}, "priorityClasses": True}
    target = {"version": version, "colocation": colocation}
    return policy({**POLICY, "targets": {"koordinator": target}})


def written(version: str) -> dict[str, str]:
    artifacts, _ = objects.generate(
        made(version), Version(*map(int, version.split("."))), "koordinator-system"
    )
    return {artifact.path: artifact.text for artifact in artifacts}


@pytest.mark.parametrize(
    ("version", "topology"), [("1.4.1", 0), ("1.5.0", 0), ("1.6.1", 0), ("1.7.0", 1), ("1.8.0", 1)]
)
def test_files_by_release(version: str, topology: int) -> None:
    assert sorted(written(version)) == [
        objects.COLOCATION,
        *[objects.TOPOLOGY] * topology,
        objects.PRIORITIES,
        objects.QUOTAS,
        objects.RESERVATIONS,
    ]


@needs_crds
def test_everything_fits_the_crds() -> None:
    for text in written("1.8.0").values():
        for document in parse(text):
            assert document.root is not None
            if document.root.data["kind"] != "PriorityClass":
                assert problems(document.root.data) == []


def test_what_is_generated_has_no_findings() -> None:
    cluster = made("1.8.0")
    artifacts, said = objects.generate(cluster, Version(1, 8, 0), "koordinator-system")
    texts = {artifact.path: artifact.text.encode() for artifact in artifacts}
    assert [finding.message for finding in lint_texts(texts, cluster=cluster).findings] == []
    assert said == ()
