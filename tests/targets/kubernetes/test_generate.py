"""PriorityClasses and ResourceQuotas as the API server takes and counts them."""

from typing import Any

import pytest
import yaml

from policykit import api
from policykit.generator.artifact import Role
from policykit.model.cluster import Cluster, TargetSettings
from policykit.model.gang import GangRule
from policykit.model.queue import ContainerRange, Preemption, Priority, Queue, Quota, Reservation
from policykit.model.workload import Autoscaling, ScaleTarget, WorkloadKind
from policykit.targets.kubernetes import priorities, quotas
from policykit.targets.kubernetes.generate import generate, notices
from policykit.targets.kubernetes.options import KubernetesOptions
from tests.targets.kubernetes.clusters import cluster

GIB = 1 << 30
CHAT = WorkloadKind("chat", autoscaling=Autoscaling(3, targets=(ScaleTarget("Deployment", "chat"),)))


@pytest.mark.parametrize(
    ("cluster", "paths"),
    [
        (Cluster("a", ()), []),
        (Cluster("a", (), priorities=(Priority("p", 1),)), ["kubernetes/priorities.yaml"]),
        (Cluster("a", (), quotas=(Quota("n", "q"),)), ["kubernetes/quotas.yaml"]),
        (
            Cluster("a", (), quotas=(Quota("n", "q", containers=ContainerRange({"cpu": 1000})),)),
            ["kubernetes/limit-ranges.yaml", "kubernetes/README.md"],
        ),
        (
            Cluster("a", (), quotas=(Quota("n", "q", pods=1, containers=ContainerRange({"cpu": 1})),)),
            ["kubernetes/quotas.yaml", "kubernetes/limit-ranges.yaml", "kubernetes/README.md"],
        ),
        (Cluster("a", (), workloads={"chat": CHAT}), ["kubernetes/autoscalers.yaml", "kubernetes/README.md"]),
    ],
    ids=["nothing", "priorities", "quotas", "a range alone", "quota and range", "autoscaler"],
)
def test_files_only_where_needed(cluster: Cluster, paths: list[str]) -> None:
    artifacts = generate(cluster).artifacts
    assert [artifact.path for artifact in artifacts] == paths
    assert {artifact.role for artifact in artifacts} <= {Role.MANIFEST, Role.PAGE}


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        (
            Priority("train", 1000),
            {"value": 1000, "preemptionPolicy": "PreemptLowerPriority"},
        ),
        (
            Priority("low", -5, preempts=False),
            {"value": -5, "preemptionPolicy": "Never"},
        ),
        (
            Priority("usual", 0, default=True, description="whatever says nothing"),
            {
                "value": 0,
                "globalDefault": True,
                "preemptionPolicy": "PreemptLowerPriority",
                "description": "whatever says nothing",
            },
        ),
    ],
    ids=["plain", "never preempts", "default"],
)
def test_priority_class(priority: Priority, expected: dict[str, Any]) -> None:
    head = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": priority.name},
    }
    assert priorities.write(priority) == {**head, **expected}


@pytest.mark.parametrize(
    ("quota", "hard"),
    [
        (Quota("n", "q"), {}),
        (Quota("n", "q", pods=20), {"pods": "20"}),
        (
            Quota("n", "q", requests={"memory": 64 * GIB, "cpu": 1500, "nvidia.com/gpu": 8}),
            {"requests.cpu": "1500m", "requests.memory": "64Gi", "requests.nvidia.com/gpu": "8"},
        ),
        (Quota("n", "q", limits={"cpu": 2000, "memory": GIB}), {"limits.cpu": "2", "limits.memory": "1Gi"}),
        (Quota("n", "q", limits={"nvidia.com/gpu": 4}), {"requests.nvidia.com/gpu": "4"}),
        (
            Quota("n", "q", requests={"nvidia.com/gpu": 2}, limits={"nvidia.com/gpu": 4}),
            {"requests.nvidia.com/gpu": "2"},
        ),
        (Quota("n", "q", limits={"hugepages-2Mi": GIB}), {"requests.hugepages-2Mi": "1Gi"}),
    ],
    ids=[
        "empty",
        "pods",
        "requests",
        "limits",
        "limit of cards",
        "request and limit of cards",
        "limit of huge pages",
    ],
)
def test_resource_quota(quota: Quota, hard: dict[str, str]) -> None:
    assert quotas.write_quota(quotas.resource_quota(quota)) == {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "n"},
        # The API server leaves out an empty map, so `kubectl apply` would write it again each time.
        "spec": {"hard": hard} if hard else {},
    }


def test_a_range_has_the_defaults_that_the_api_server_adds() -> None:
    ranges = ContainerRange({"cpu": 2000}, {}, {"cpu": 100, "memory": GIB}, {"cpu": 4000, "memory": 4 * GIB})
    found = generate(Cluster("a", (), quotas=(Quota("n", "q", containers=ranges),))).artifacts
    text = next(artifact.text for artifact in found if artifact.path.endswith("limit-ranges.yaml"))
    assert yaml.safe_load(text)["spec"]["limits"] == [
        {
            "type": "Container",
            "default": {"cpu": "2", "memory": "4Gi"},
            "defaultRequest": {"cpu": "2", "memory": "4Gi"},
            "min": {"cpu": "100m", "memory": "1Gi"},
            "max": {"cpu": "4", "memory": "4Gi"},
        }
    ]


def test_amounts_stay_text_in_the_file() -> None:
    (artifact,) = generate(Cluster("a", (), quotas=(Quota("n", "q", {"cpu": 2000}, pods=3),))).artifacts
    assert yaml.safe_load(artifact.text)["spec"]["hard"] == {"requests.cpu": "2", "pods": "3"}


def test_what_is_written_lints_clean() -> None:
    quota = Quota(
        "n",
        "q",
        {"nvidia.com/gpu": 8, "cpu": 2000},
        priorities=("train",),
        containers=ContainerRange({"cpu": 1000}, {"cpu": 500}, {"cpu": 100}, {"memory": GIB}),
    )
    cluster = Cluster("a", (), priorities=(Priority("train", 1),), quotas=(quota,), workloads={"chat": CHAT})
    texts = {a.path: a.text.encode() for a in generate(cluster).artifacts if a.path.endswith(".yaml")}
    assert len(texts) == 4
    assert [finding.message for finding in api.lint_texts(texts, cluster).findings] == []


def test_a_policy_of_priorities_and_quotas_alone_has_no_page() -> None:
    cluster = Cluster("a", (), priorities=(Priority("p", 1),), quotas=(Quota("n", "q", pods=1),))
    assert [a.path for a in generate(cluster).artifacts] == [
        "kubernetes/priorities.yaml",
        "kubernetes/quotas.yaml",
    ]


GANG = WorkloadKind("job", gang="all")
RULED = GANG._replace(gang_rule=GangRule(4, 60))
VOLCANO = TargetSettings("volcano", scheduler_name="volcano")


@pytest.mark.parametrize(
    ("fields", "native", "said"),
    [
        ({}, False, []),
        (
            {"queues": (Queue("a"), Queue("b"))},
            False,
            [
                "kube-scheduler has no queues, so the shares, guarantees and limits of a, b have no effect. "
                "Nearest: quotas of the teams' namespaces, and priorities"
            ],
        ),
        (
            {"preemption": Preemption(reclaim=False)},
            False,
            [
                "kube-scheduler preempts by priority only and ignores `preemption` of queues. Nearest: "
                "priorities, with preempts: false for those that must not preempt"
            ],
        ),
        (
            {"reservations": (Reservation("eval", {"cpu": 1}),)},
            False,
            [
                "kube-scheduler cannot reserve capacity, so reservations eval have no effect. Nearest: "
                "placeholder pods of a lower priority that others preempt, or a separate pool"
            ],
        ),
        ({"queues": (Queue("a"),), "preemption": Preemption(True), "others": (VOLCANO,)}, False, []),
        (
            {"kinds": (GANG, RULED._replace(name="long"))},
            False,
            [
                "kube-scheduler starts the pods of job, long one by one: `gang` has no effect. Nearest: "
                "a scheduler "
                "with gangs (Volcano, Koordinator, YuniKorn), or from Kubernetes 1.35 on, "
                "targets.kubernetes.nativeGang"
            ],
        ),
        ({"kinds": (RULED._replace(scheduler="volcano"),)}, False, []),
        (
            {"kinds": (GANG,), "version": ""},
            True,
            [
                "nativeGang needs the cluster's version, because the gang API differs in each release: "
                "set `kubernetes` in the policy"
            ],
        ),
        (
            {"kinds": (GANG,), "version": "1.33"},
            True,
            [
                "nativeGang: Kubernetes 1.33 has no gang API; 1.35 is the first release with one. Nearest: a "
                "scheduler with "
                "gangs (Volcano, Koordinator, YuniKorn)"
            ],
        ),
        (
            {"kinds": (RULED,), "version": "1.36"},
            True,
            [
                "gangs of job use scheduling.k8s.io/v1alpha2, which the next release does not accept. It "
                "is off by default: the API server needs --runtime-config=scheduling.k8s.io/v1alpha2=true, "
                "and both it and the scheduler need the feature gates GenericWorkload, GangScheduling. "
                "Without them the pod fields are dropped silently",
                "Kubernetes gangs wait 5 minutes for their pods and then try again, whatever timeout "
                "job sets",
            ],
        ),
    ],
    ids=[
        "nothing",
        "queues",
        "preemption",
        "reservations",
        "Volcano is there",
        "gangs",
        "a gang of Volcano",
        "no version",
        "too old",
        "native",
    ],
)
def test_notices(fields: dict[str, Any], native: bool, said: list[str]) -> None:
    made = cluster(**{"kinds": (), **fields})
    assert list(notices(made, KubernetesOptions(native_gang=native))) == said
