"""A fix is safe if landing says so: something accepts, nothing wrong does, nothing right is lost."""

from __future__ import annotations

from typing import Any

import pytest

from policykit import api
from policykit.linter.proof import is_proven_safe, review_after
from policykit.manifests.patch import Patch
from policykit.manifests.writer import dump
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from tests.clusters import profile
from tests.placement.pods import PRODUCT, USAGE, pod, required, tolerate

CLUSTER = profile("hybrid-volcano")
RACK = "example.com/rack"
TRAINING = {"policykit.io/workload": "training"}
TOLERATIONS = ("spec", "tolerations")
SELECTOR = ("spec", "nodeSelector")
LABEL = ("metadata", "labels", "policykit.io/workload")


def tolerating(*usages: str) -> list[dict[str, str]]:
    return [*tolerate(PRODUCT, "NVIDIA-H20"), *tolerate(USAGE, *usages)]


def reviews(manifest: dict[str, Any], cluster: Cluster = CLUSTER) -> list[Review]:
    return list(api.where(dump(manifest).encode(), cluster))


def adding(*usages: str) -> list[Patch]:
    return [Patch("add", TOLERATIONS, tolerating(*usages))]


LANDED = pod(labels=TRAINING, tolerations=tolerating("training"))
BOTH = pod(labels=TRAINING, tolerations=tolerating("training", "hybrid"))
UNKNOWN = pod(labels=TRAINING, tolerations=tolerating("training"), nodeSelector={RACK: "r1"})

SAFE = {
    "it lands now": (pod(labels=TRAINING), adding("training")),
    "a pool more": (LANDED, adding("training", "hybrid")),
    "nothing of placement": (BOTH, [Patch("add", ("metadata", "annotations"), {"a": "b"})]),
    "nothing of placement, where nothing lands": (
        pod(labels=TRAINING),
        [Patch("add", ("metadata", "labels", "a"), "b")],
    ),
    "a wrong pool less": (
        pod(labels=TRAINING, tolerations=tolerating("training", "inference")),
        adding("training"),
    ),
    "a preference": (
        BOTH,
        [
            Patch(
                "add",
                ("spec", "affinity"),
                {
                    "nodeAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "weight": 1,
                                "preference": {
                                    "matchExpressions": [
                                        {"key": USAGE, "operator": "In", "values": ["training"]}
                                    ]
                                },
                            }
                        ]
                    }
                },
            )
        ],
    ),
    "without a workload kind": (pod(), adding("training", "inference")),
    "a doubt less": (UNKNOWN, [Patch("remove", SELECTOR)]),
}

UNSAFE = {
    "it still lands nowhere": (
        pod(labels=TRAINING),
        [Patch("add", TOLERATIONS, tolerate(USAGE, "training"))],
    ),
    "a wrong pool opens": (LANDED, adding("training", "inference")),
    "a right pool closes": (BOTH, adding("training")),
    "a right pool for another": (LANDED, adding("hybrid")),
    "a doubt may have been right": (
        UNKNOWN,
        [Patch("remove", SELECTOR), *adding("hybrid")],
    ),
    "a doubt remains, and nothing else": (
        pod(labels=TRAINING, nodeSelector={RACK: "r1"}),
        adding("training"),
    ),
    "another workload kind": (BOTH, [Patch("replace", LABEL, "inference"), *adding("inference", "hybrid")]),
    "a step that leads nowhere": (BOTH, [Patch("remove", ("spec", "affinity"))]),
    "the pod is gone": (BOTH, [Patch("replace", ("kind",), "ConfigMap")]),
}


@pytest.mark.parametrize(("manifest", "patches"), list(SAFE.values()), ids=list(SAFE))
def test_safe(manifest: dict[str, Any], patches: list[Patch]) -> None:
    (before,) = reviews(manifest)
    assert is_proven_safe(before, patches)


@pytest.mark.parametrize(("manifest", "patches"), list(UNSAFE.values()), ids=list(UNSAFE))
def test_unsafe(manifest: dict[str, Any], patches: list[Patch]) -> None:
    (before,) = reviews(manifest)
    assert not is_proven_safe(before, patches)


def test_without_a_policy_the_rules_word_stands() -> None:
    (before,) = reviews(LANDED)
    assert is_proven_safe(before._replace(cluster=None), adding("inference"))


def task(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "name": name,
        "replicas": 2,
        "template": {"spec": {**pod()["spec"], "restartPolicy": "Never", **spec}},
    }


JOB = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "train", "labels": TRAINING},
    "spec": {"tasks": [task("master"), task("worker", tolerations=tolerating("training"))]},
}
MASTER = ("spec", "tasks", 0, "template", "spec", "tolerations")
WORKER = ("spec", "tasks", 1, "template", "spec", "tolerations")


@pytest.mark.parametrize(
    ("patches", "safe"),
    [
        pytest.param([Patch("add", MASTER, tolerating("training"))], True, id="its own"),
        pytest.param(
            [Patch("add", MASTER, tolerating("training")), Patch("remove", WORKER)], False, id="another loses"
        ),
        pytest.param(
            [Patch("add", MASTER, tolerating("training")), Patch("add", WORKER, tolerating("hybrid"))],
            False,
            id="another lands elsewhere",
        ),
        pytest.param(
            [Patch("add", MASTER, tolerating("training")), Patch("remove", ("spec", "tasks", 1))],
            False,
            id="another is gone",
        ),
    ],
)
def test_the_other_pod_sets_keep_what_they_had(patches: list[Patch], safe: bool) -> None:
    master, _ = reviews(JOB)
    assert is_proven_safe(master, patches) == safe


def test_a_helper_without_cards_may_use_what_it_is_meant_for() -> None:
    cluster = CLUSTER._replace(
        workloads={"training": CLUSTER.workloads["training"]._replace(helpers=("hybrid-h20",))}
    )
    (before,) = reviews(pod(0, TRAINING), cluster)
    assert is_proven_safe(before, adding("hybrid"))
    assert not is_proven_safe(before, adding("inference"))


def test_the_review_of_what_a_change_makes() -> None:
    (before,) = reviews(pod(labels=TRAINING))
    selected = Patch("add", ("spec", "affinity"), required([(USAGE, "In", ["hybrid"])]))
    one = review_after(before, adding("training", "hybrid"))
    assert one is not None
    assert [pool.name for pool in one.accepting] == ["train-h20", "hybrid-h20"]
    two = review_after(one, [selected])
    assert two is not None
    assert [pool.name for pool in two.accepting] == ["hybrid-h20"]
    assert review_after(before, [Patch("remove", ("spec", "affinity"))]) is None
