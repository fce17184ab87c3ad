"""Kubernetes' own objects back in a policy: what gen wrote gives the policy it was made from."""

from typing import Any

import pytest

from policykit.generator.bundle import bundle
from policykit.importer.policy import ImportResult, policy_of
from policykit.model.cluster import Cluster
from policykit.targets.kubernetes.generate import generate
from tests.clusters import policy
from tests.importer.cluster_files import as_file
from tests.importer.test_policy import imported, section
from tests.importer.unusual_nodes import gpu, node, with_cards

NODE = as_file([node("n-1", gpu("NVIDIA-H20"), [], with_cards(8))])
GPU = "nvidia.com/gpu"

PLACEMENTS: dict[str, dict[str, Any]] = {
    "dense": {"strategy": "binpack", "scheduler": "dense-scheduler"},
    "wide": {"strategy": "spread", "scheduler": "wide-scheduler"},
    "curve": {
        "strategy": "binpack",
        "scheduler": "curve-scheduler",
        "shape": [{"utilization": 0, "score": 1}, {"utilization": 100, "score": 10}],
    },
    "falling": {
        "strategy": "spread",
        "resources": {GPU: 10, "cpu": 2},
        "scheduler": "falling-scheduler",
        "shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 1}],
    },
    "listed": {"strategy": "binpack", "resources": {GPU: 50, "memory": 3}, "scheduler": "listed-scheduler"},
}
BASE: dict[str, Any] = {
    "kubernetes": "1.36",
    "scheme": {},
    "cards": {"h20": {"product": "NVIDIA-H20"}},
    "pools": {"a": {"card": "h20", "nodes": 2}},
    "workloads": {"chat": {"match": {"labels": {"app": "chat"}}}},
}


def back(made: Cluster) -> ImportResult:
    """The policy of what Kubernetes' target writes for a cluster, and a node."""
    files = {path: text.encode() for path, text in bundle(made, generate(made)).items()}
    return policy_of({"nodes.json": NODE, **files})


@pytest.mark.parametrize("name", PLACEMENTS)
def test_placements_come_back(name: str) -> None:
    made = back(policy({**BASE, "placements": {name: PLACEMENTS[name]}}))
    found = section(made, "placements", name)
    resources = {"h20" if key == GPU else key: value for key, value in found.get("resources", {}).items()}
    stated = PLACEMENTS[name]
    wanted = {"h20" if key == GPU else key: value for key, value in stated.get("resources", {}).items()}
    assert {**found, "resources": resources} == {**stated, "resources": wanted}


@pytest.mark.parametrize(
    "scheduler", [{"as": "cluster"}, {"as": "cluster", "default": "default"}, {"namespace": "sched"}]
)
def test_how_profiles_run_comes_back(scheduler: dict[str, Any]) -> None:
    placement = {"strategy": "binpack"}
    if "default" not in scheduler:
        placement["scheduler"] = "default-profile"
    data = {**BASE, "placements": {"default": placement}, "targets": {"kubernetes": {"scheduler": scheduler}}}
    assert section(back(policy(data)), "targets", "kubernetes", "scheduler") == scheduler


def test_quotas_and_ranges_are_one_again() -> None:
    quotas = {
        "team": {
            "requests": {"cpu": 90},
            "pods": 20,
            "priorities": ["high"],
            "containers": {"default": {"cpu": 1}, "max": {"memory": "8Gi"}},
        },
        "small": {"containers": {"defaultRequest": {"cpu": "500m"}}},
    }
    made = back(policy({**BASE, "priorities": {"high": {"value": 1000}}, "quotas": quotas}))
    assert section(made, "quotas") == quotas


def test_autoscaling_of_a_kind_comes_back() -> None:
    autoscaling = {
        "min": 2,
        "max": 8,
        "metrics": [{"resource": "cpu", "utilization": 70}, {"pods": "waiting", "average": "5"}],
        "targets": [
            {"kind": "Deployment", "name": "chat", "namespace": "chat"},
            {"kind": "StatefulSet", "name": "cache", "namespace": "chat"},
        ],
        "cooldown": "5m",
    }
    data = {**BASE, "workloads": {"chat": {"autoscaling": autoscaling}}}
    made = back(policy(data))
    said = section(made, "workloads", "chat", "autoscaling")
    found = policy({**BASE, "workloads": {"chat": {"autoscaling": said}}})
    assert found.workloads["chat"].autoscaling == policy(data).workloads["chat"].autoscaling


CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: a
"""


@pytest.mark.parametrize(
    ("profile", "remark"),
    [
        (
            "  plugins: {filter: {disabled: [{name: NodePorts}]}, "
            "score: {disabled: [{name: ImageLocality}]}}\n",
            "scheduler a: a policy has no field for score without ImageLocality, plugins.filter; left out",
        ),
        (
            "  plugins: {score: {enabled: [{name: ImageLocality, weight: 4}, "
            "{name: NodeAffinity, weight: 2}]}}\n",
            "scheduler a: a policy has no field for weight of ImageLocality; left out",
        ),
        (
            "  plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}\n",
            "scheduler a: weight 5 of NodeResourcesFit is computed from the policy, as 1; left out",
        ),
        (
            "  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Best}}}]\n",
            "scheduler a: strategy Best is invalid in kube-scheduler; left out",
        ),
        (
            "  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, "
            "resources: [{name: cpu, weight: 500}]}}}]\n",
            "scheduler a: weight of cpu is invalid in kube-scheduler; left out",
        ),
    ],
)
def test_what_a_profile_says_beyond_is_told(profile: str, remark: str) -> None:
    made = imported(CONFIGURATION + profile)
    assert made.remarks == (f"0.yaml: {remark}",)
    assert section(made, "schedulers") == ["a"]


HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: chat}
spec: {minReplicas: 2, maxReplicas: 8, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}}
"""


def test_an_autoscaler_of_nobody_is_told() -> None:
    assert imported(HPA).remarks == (
        "HorizontalPodAutoscaler chat/chat scales Deployment chat from 2 to 8 pods: set "
        "`autoscaling` of its workload kind",
    )


def test_one_range_for_a_namespace() -> None:
    head = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: NAME, namespace: team}\n"
    text = f"{head}spec: {{limits: [LIMITS]}}\n"
    items = "{type: Container, default: {cpu: 1}}, {type: Pod, max: {cpu: 4}}"
    first, second = (text.replace("NAME", name).replace("LIMITS", items) for name in ("one", "two"))
    made = imported(first, second)
    assert section(made, "quotas") == {"one": {"namespace": "team", "containers": {"default": {"cpu": 1}}}}
    assert made.remarks == (
        "LimitRange team/one: a policy has no field for limits of Pod; left out",
        "LimitRange team/two: a policy has no field for limits of Pod; left out",
        "LimitRange team/two: one already sets defaults and bounds for containers in team; left out",
    )
