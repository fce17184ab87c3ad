"""What a review says of one pod set: settled, concerned, of the device stack; and PK102's silence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit import api
from policykit.manifests.writer import dump
from tests.clusters import policy, profile
from tests.placement.pods import H20, PRODUCT, USAGE, look, pod, tolerate, verdicts

CLUSTER = profile("hybrid-volcano")
COMPLETE = policy(
    {
        "domain": "maip.mxsf.io",
        "coverage": "complete",
        "cards": {"h20": H20},
        "pools": {"a": {"card": "h20", "nodes": 1}},
    }
)


def owned(kind: str, api_version: str = "batch/v1", labels: Any = None, **spec: Any) -> dict[str, Any]:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    metadata = {"name": "app", "labels": labels or {}}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"template": template, **spec},
    }


def pytorch(**spec: Any) -> dict[str, Any]:
    workers = {"Worker": {"replicas": 1, "template": {"spec": pod()["spec"]}}}
    metadata = {"name": "app"}
    spec = {"pytorchReplicaSpecs": workers, **spec}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("manifest", "may_still_change"),
    [
        pytest.param(pod(), False, id="pod"),
        pytest.param(pod(schedulingGates=[{"name": "example.com/gate"}]), True, id="gated"),
        pytest.param(pod(nodeName="gpu-node-1"), True, id="no scheduler looks at it"),
        pytest.param(owned("Job"), False, id="job"),
        pytest.param(owned("Job", suspend=True), True, id="suspended"),
        pytest.param(owned("Job", suspend=False), False, id="not suspended"),
        pytest.param(pytorch(runPolicy={"suspend": True}), True, id="suspended by runPolicy"),
        pytest.param(owned("Job", labels={"kueue.x-k8s.io/queue-name": "q"}), True, id="Kueue's job"),
        pytest.param(pod(labels={"kueue.x-k8s.io/queue-name": "q"}), True, id="Kueue's pod"),
        pytest.param(
            {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "app"}, "template": pod()},
            False,
            id="pod template",
        ),
        pytest.param(
            {
                "apiVersion": "trainer.kubeflow.org/v1alpha1",
                "kind": "ClusterTrainingRuntime",
                "metadata": {"name": "app"},
                "spec": {
                    "template": {"spec": {"replicatedJobs": [{"name": "node", "template": owned("Job")}]}}
                },
            },
            True,
            id="a runtime that its jobs complete",
        ),
    ],
)
def test_may_still_change(manifest: dict[str, Any], may_still_change: bool) -> None:
    review = look(manifest, CLUSTER)
    assert review.may_still_change is may_still_change
    assert review.is_final is not may_still_change


@pytest.mark.parametrize(
    ("images", "namespace", "expected"),
    [
        pytest.param(["registry.example/app:1"], "team", False, id="application"),
        pytest.param(["registry.example/app:1"], "kube-system", True, id="kube-system"),
        pytest.param(["nvcr.io/nvidia/k8s-device-plugin:v0.17.0"], "team", True, id="device plugin"),
        pytest.param(
            ["registry.example/proxy:1", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"],
            "team",
            True,
            id="beside",
        ),
        pytest.param(["fluent/fluent-bit:3.0"], "team", True, id="log shipper"),
        pytest.param(["registry.example/app:1", "fluent/fluent-bit:3.0"], "team", False, id="with a shipper"),
    ],
)
def test_device_stack(images: list[str], namespace: str, expected: bool) -> None:
    manifest = pod()
    manifest["metadata"]["namespace"] = namespace
    manifest["spec"]["containers"] = [{"name": f"c{n}", "image": image} for n, image in enumerate(images)]
    assert look(manifest, CLUSTER).is_system_pod is expected


def test_concerned() -> None:
    assert look(pod(), CLUSTER).is_covered
    assert look(pod(0, {"policykit.io/workload": "training"}), CLUSTER).is_covered
    assert not look(pod(0), CLUSTER).is_covered
    assert look(pod(0), COMPLETE).is_covered


def test_preferred_are_the_accepting_pools_with_the_highest_score() -> None:
    preferred = [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": USAGE, "operator": "In", "values": values}]},
        }
        for weight, values in ((10, ["training", "hybrid"]), (5, ["hybrid"]), (50, ["inference"]))
    ]
    manifest = pod(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        tolerations=[*tolerate(USAGE, "training", "hybrid"), *tolerate(PRODUCT)],
    )
    assert verdicts(look(manifest, CLUSTER)) == {
        "train-h20": "accepted",
        "infer-h20": "refused untolerated-taint",
        "hybrid-h20": "preferred",
    }


SELECTORS = st.dictionaries(
    st.sampled_from(
        [USAGE, PRODUCT, "topology.kubernetes.io/zone", "karpenter.sh/nodepool", "example.com/x"]
    ),
    st.sampled_from(["training", "hybrid", "NVIDIA-H20", "z1"]),
    max_size=3,
)
TOLERATED = st.lists(
    st.sampled_from([*tolerate(USAGE, "training", "inference", "hybrid"), *tolerate(PRODUCT)]), max_size=3
)


@settings(max_examples=200, deadline=None)
@given(SELECTORS, TOLERATED, st.integers(0, 9))
def test_no_feasible_pool_is_never_said_while_one_is_undecidable(
    selector: dict[str, str], tolerations: list[dict[str, str]], cards: int
) -> None:
    manifest = pod(cards, nodeSelector=selector, tolerations=tolerations)
    found = api.lint_texts({"pod.yaml": dump(manifest).encode()}, CLUSTER).findings
    said = "PK102" in [finding.code for finding in found]
    review = look(manifest, CLUSTER)
    assert not said or all(landing.verdict == "refused" for landing in review.landings)
    if (
        review.eligible_pools
        and not review.accepting
        and all(x.verdict == "refused" for x in review.landings)
    ):
        assert [finding for finding in found if finding.code[:3] in ("PK1", "PK2")], "nobody says why"
