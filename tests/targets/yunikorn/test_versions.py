"""What releases of YuniKorn before 1.6 read, against the core and the shim at their tags."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.pod_fields import PodContext
from policykit.model.workload import WorkloadKind
from policykit.targets.yunikorn import pods, validation, versions
from policykit.targets.yunikorn.configuration import configmap, properties


def queues_yaml(name: str = "a", **partition: Any) -> dict[str, Any]:
    root = {"name": "root", "submitacl": "*", "queues": [{"name": name}]}
    return {"partitions": [{"name": "default", "queues": [root], **partition}]}


@pytest.mark.parametrize(
    ("data", "version", "said"),
    [
        (queues_yaml("team:a"), "1.5.2", ["queue name 'team:a' requires YuniKorn 1.6.0 or later"]),
        (queues_yaml("team:a"), "1.6.0", []),
        (queues_yaml(statedumpfilepath="/tmp/x"), "1.4.0", []),
        (
            queues_yaml(statedumpfilepath="/tmp/x"),
            "1.5.0",
            ["partitions[0].statedumpfilepath was removed in YuniKorn 1.5.0"],
        ),
    ],
)
def test_queue_files(data: dict[str, Any], version: str, said: list[str]) -> None:
    assert [each.message for each in validation.problems(data, versions.parse(version))] == said


@pytest.mark.parametrize(
    ("key", "text", "version", "why"),
    [
        ("admissionController.filtering.defaultQueue", "root.a", "1.5.1", ""),
        ("admissionController.filtering.defaultQueue", "root.a", "1.5.2", "was removed in YuniKorn 1.5.2"),
        ("service.operatorPlugins", "general", "1.4.0", ""),
        ("service.operatorPlugins", "general", "1.5.0", "was removed in YuniKorn 1.5.0"),
        ("event.maxStreams", "10", "1.4.0", "requires YuniKorn 1.5.0 or later"),
        ("event.maxStreams", "10", "1.5.0", ""),
        ("event.trackingEnabled", "true", "1.3.0", "requires YuniKorn 1.4.0 or later"),
        ("event.RESTResponseSize", "10", "1.5.2", "requires YuniKorn 1.6.0 or later"),
    ],
)
def test_settings(key: str, text: str, version: str, why: str) -> None:
    assert configmap.no_effect_reason(key, text, versions.parse(version)) == why


@pytest.mark.parametrize(
    ("version", "why"),
    [("1.5.2", ""), ("1.6.0", "is 'stateaware', which YuniKorn treats as fifo")],
)
def test_the_stateaware_policy(version: str, why: str) -> None:
    assert properties.no_effect_reason(properties.SORT, "stateaware", versions.parse(version)) == why


@pytest.mark.parametrize(
    ("version", "labels"),
    [
        ("1.5.2", {"applicationId": "team-job-train", "queue": "root.a"}),
        ("1.6.0", {"yunikorn.apache.org/app-id": "team-job-train", "yunikorn.apache.org/queue": "root.a"}),
        ("", {"yunikorn.apache.org/app-id": "team-job-train", "yunikorn.apache.org/queue": "root.a"}),
    ],
)
def test_labels_of_pods(version: str, labels: dict[str, str]) -> None:
    kind = WorkloadKind("training", scheduler="yunikorn", queue="a")
    cluster = Cluster("c", (), targets={"yunikorn": TargetSettings("yunikorn", version)})
    written = pods.fields(kind, cluster, PodContext(owner="train", owner_kind="Job", namespace="team"))
    assert dict(written.labels) == labels
