"""What a changed template does to an object that exists, by its kind, strategy and the fields that change."""

from __future__ import annotations

from typing import Any

import pytest

from policykit.plan.replacements import LATER, REPLACED, ROLLED, changed_fields, replacement

AFFINITY: dict[str, Any] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}
ROWS: dict[str, tuple[str, str, dict[str, Any], set[str], str, str]] = {
    "deployment": ("apps", "Deployment", {}, {"tolerations"}, ROLLED, "rolling update"),
    "recreate": ("apps", "Deployment", {"strategy": {"type": "Recreate"}}, {"labels"}, ROLLED, "Recreate"),
    "stateful set": ("apps", "StatefulSet", {}, {"tolerations"}, ROLLED, "rolling update"),
    "partition": (
        "apps",
        "StatefulSet",
        {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
        {"tolerations"},
        ROLLED,
        "below its partition",
    ),
    "on delete": (
        "apps",
        "DaemonSet",
        {"updateStrategy": {"type": "OnDelete"}},
        {"tolerations"},
        LATER,
        "OnDelete: only pods that you delete",
    ),
    "replica set": ("apps", "ReplicaSet", {}, {"tolerations"}, LATER, "only new pods"),
    "pod": ("", "Pod", {}, {"affinity.nodeAffinity"}, REPLACED, "deleted and created again"),
    "job": ("batch", "Job", {}, {"tolerations"}, REPLACED, "immutable once it has started"),
    "suspended job": (
        "batch",
        "Job",
        {"suspend": True},
        {"tolerations", "affinity.nodeAffinity"},
        LATER,
        "affinity.nodeAffinity, tolerations may change until it first starts",
    ),
    "suspended job, scheduler": ("batch", "Job", {"suspend": True}, {"schedulerName"}, REPLACED, "immutable"),
    "suspended job, pod affinity": (
        "batch",
        "Job",
        {"suspend": True},
        {"affinity.podAffinity"},
        REPLACED,
        "immutable",
    ),
    "cron job": ("batch", "CronJob", {}, {"tolerations"}, LATER, "Jobs that it creates later"),
    "volcano job": ("batch.volcano.sh", "Job", {"suspend": True}, {"tolerations"}, REPLACED, "webhook"),
    "suspended job set": ("jobset.x-k8s.io", "JobSet", {"suspend": True}, {"nodeSelector"}, LATER, "nodeSel"),
    "suspended job set, affinity": (
        "jobset.x-k8s.io",
        "JobSet",
        {"suspend": True},
        {"affinity.nodeAffinity"},
        REPLACED,
        "but for scheduling while it is suspended",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_changed_template_means(name: str) -> None:
    group, kind, spec, changed, how, means = ROWS[name]
    found = replacement({"kind": kind, "spec": spec}, group, kind, frozenset(changed))
    assert found is not None
    assert (found.how, means in found.means, bool(found.source)) == (how, True, True), found


def test_a_kind_of_others_is_left_to_its_controller() -> None:
    assert replacement({}, "ray.io", "RayCluster", frozenset({"tolerations"})) is None


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({}, {}, set()),
        ({"tolerations": []}, {"tolerations": [{"operator": "Exists"}]}, {"tolerations"}),
        ({}, {"affinity": AFFINITY}, {"affinity.nodeAffinity"}),
        ({"affinity": {"podAffinity": {}}}, {"affinity": 5}, {"affinity.podAffinity"}),
        ({"affinity": AFFINITY, "a": 1}, {"affinity": AFFINITY, "b": 1}, {"a", "b"}),
    ],
    ids=["nothing", "list", "node affinity", "pod affinity", "others"],
)
def test_what_differs_between_two_templates(
    old: dict[str, Any], new: dict[str, Any], changed: set[str]
) -> None:
    assert changed_fields(old, new) == changed
