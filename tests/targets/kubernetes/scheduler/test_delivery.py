"""Profiles on their way to a running kube-scheduler."""

import hashlib
import re
from typing import Any

import pytest
import yaml

from policykit import api
from policykit.generator.artifact import Role
from policykit.model.cluster import Cluster
from policykit.model.topology import TopologyAffinity
from policykit.targets.kubernetes.generate import generate
from policykit.targets.kubernetes.options import KubernetesOptions, SchedulerOptions
from policykit.targets.kubernetes.scheduler.configuration import Lease, read
from tests.targets.kubernetes.clusters import DENSE, TRAINING, cluster, messages, pool

CONFIGURATION = """\
# dense-scheduler, placement dense. Each score is 0 to 100 times its
#     plugin's weight.
#   nvidia.com/gpu, 8 per node: a difference of one card between two nodes
#     of this size is worth at least 10 points, whatever else runs on them:
#     66 x 10 = 660 > 650 = TaintToleration 300 + PodTopologySpread 200 +
#     NodeResourcesBalancedAllocation 50 + ImageLocality 100.
#   Not included, because pods must opt in to them: InterPodAffinity,
#     DynamicResources. All other plugins keep their defaults.
#   percentageOfNodesToScore 100: by default only a sample is scored where
#     there are more than 100 nodes, and it may miss the best one.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceName: policykit-scheduler
  resourceNamespace: kube-system
profiles:
  - schedulerName: dense-scheduler
    percentageOfNodesToScore: 100
    plugins:
      score:
        enabled:
          - name: NodeResourcesFit
            weight: 66
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources:
              - name: nvidia.com/gpu
                weight: 100
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
"""
AS_CLUSTER = KubernetesOptions(SchedulerOptions("cluster"))


def files(made: Cluster) -> dict[str, str]:
    return {artifact.path: artifact.text for artifact in generate(made).artifacts}


def objects(made: Cluster) -> dict[str, Any]:
    """Objects of the second scheduler by kind and name."""
    found = yaml.safe_load_all(files(made)["kubernetes/scheduler.yaml"])
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def test_nothing_without_a_placement_that_states_a_scheduler() -> None:
    assert files(cluster(DENSE._replace(scheduler=""))) == {}


def test_a_second_scheduler_in_full() -> None:
    found = objects(cluster(DENSE))
    assert list(found) == [
        "ServiceAccount/policykit-scheduler",
        "ClusterRoleBinding/policykit-scheduler:kube-scheduler",
        "ClusterRoleBinding/policykit-scheduler:volume-scheduler",
        "RoleBinding/policykit-scheduler:extension-apiserver-authentication-reader",
        "Role/policykit-scheduler:leases",
        "RoleBinding/policykit-scheduler:leases",
        "ConfigMap/policykit-scheduler",
        "Deployment/policykit-scheduler",
    ]
    reader = found["RoleBinding/policykit-scheduler:extension-apiserver-authentication-reader"]
    assert reader["metadata"]["namespace"] == "kube-system"
    roles = {name: each["roleRef"]["name"] for name, each in found.items() if "roleRef" in each}
    assert list(roles.values()) == [
        "system:kube-scheduler",
        "system:volume-scheduler",
        "extension-apiserver-authentication-reader",
        "policykit-scheduler:leases",
    ]


def test_the_configuration_in_full() -> None:
    made = cluster(DENSE, kinds=(TRAINING._replace(prefer={}),), pools=(pool("large", nodes=200),))
    assert objects(made)["ConfigMap/policykit-scheduler"]["data"]["kube-scheduler.yaml"] == CONFIGURATION


def test_its_lease_is_the_one_it_may_change() -> None:
    found = objects(cluster(DENSE, options=KubernetesOptions(SchedulerOptions(namespace="sched"))))
    text = found["ConfigMap/policykit-scheduler"]["data"]["kube-scheduler.yaml"]
    assert read(yaml.safe_load(text)).lease == Lease("policykit-scheduler", "sched")
    role = found["Role/policykit-scheduler:leases"]
    assert role["metadata"]["namespace"] == "sched"
    assert role["rules"][1]["resourceNames"] == ["policykit-scheduler"]


def test_a_change_of_the_configuration_restarts_it() -> None:
    found = objects(cluster(DENSE))
    text = found["ConfigMap/policykit-scheduler"]["data"]["kube-scheduler.yaml"]
    template = found["Deployment/policykit-scheduler"]["spec"]["template"]
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert template["metadata"]["annotations"] == {"policykit.io/configuration": digest}
    other = objects(cluster(DENSE._replace(strategy="spread")))["Deployment/policykit-scheduler"]
    assert other["spec"]["template"]["metadata"]["annotations"] != template["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("version", "stated", "image"),
    [
        ("1.36", "", "registry.k8s.io/kube-scheduler:v1.36.3"),
        ("1.36.1", "", "registry.k8s.io/kube-scheduler:v1.36.1"),
        ("", "", "registry.k8s.io/kube-scheduler:v1.37.0"),
        ("1.36", "mirror.example.com/s:1", "mirror.example.com/s:1"),
    ],
)
def test_image(version: str, stated: str, image: str) -> None:
    options = KubernetesOptions(SchedulerOptions(image=stated))
    found = objects(cluster(DENSE, version=version, options=options))["Deployment/policykit-scheduler"]
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == image


def test_an_assumed_version_is_told() -> None:
    assert messages(cluster(DENSE)) == []
    assert messages(cluster(DENSE, version="")) == [
        "the policy has no `kubernetes` version, so the second scheduler uses the image of the newest "
        "known release: set the cluster's version, which must not be older"
    ]


@pytest.mark.parametrize(
    ("version", "scheduler"),
    [
        (
            "1.36",
            {
                "apiVersion": "kubeadm.k8s.io/v1beta4",
                "args": [{"name": "config", "value": "/etc/kubernetes/kube-scheduler.yaml"}],
            },
        ),
        (
            "1.30",
            {
                "apiVersion": "kubeadm.k8s.io/v1beta3",
                "args": {"config": "/etc/kubernetes/kube-scheduler.yaml"},
            },
        ),
    ],
)
def test_as_the_clusters_own(version: str, scheduler: dict[str, Any]) -> None:
    made = generate(cluster(DENSE, version=version, options=AS_CLUSTER))
    roles = {artifact.path: artifact.role for artifact in made.artifacts}
    assert roles == {
        "kubernetes/kube-scheduler.yaml": Role.NODE,
        "kubernetes/kubeadm.yaml": Role.NODE,
        "kubernetes/README.md": Role.PAGE,
    }
    text = {artifact.path: artifact.text for artifact in made.artifacts}
    found = read(yaml.safe_load(text["kubernetes/kube-scheduler.yaml"]))
    assert (found.kubeconfig, found.lease) == ("/etc/kubernetes/scheduler.conf", None)
    assert [profile.scheduler for profile in found.profiles] == ["default-scheduler", "dense-scheduler"]
    kubeadm = yaml.safe_load(text["kubernetes/kubeadm.yaml"])
    assert (kubeadm["apiVersion"], kubeadm["scheduler"]["extraArgs"]) == (
        scheduler["apiVersion"],
        scheduler["args"],
    )
    assert [notice.message for notice in made.notices] == [
        "the cluster's own scheduler reads kubernetes/kube-scheduler.yaml only at startup: restart it "
        "after each change, on every control plane node (see kubernetes/README.md)"
    ]


def test_gates_of_native_gangs() -> None:
    kind = TRAINING._replace(gang="all", within=TopologyAffinity("zone", hard=True))
    options = KubernetesOptions(native_gang=True)
    found = objects(cluster(DENSE, kinds=(kind,), options=options))["Deployment/policykit-scheduler"]
    gates = "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
    assert f"--feature-gates={gates}" in found["spec"]["template"]["spec"]["containers"][0]["args"]
    own = files(cluster(DENSE, kinds=(kind,), options=AS_CLUSTER._replace(native_gang=True), version="1.37"))
    args = yaml.safe_load(own["kubernetes/kubeadm.yaml"])["scheduler"]["extraArgs"]
    assert args[1] == {
        "name": "feature-gates",
        "value": "GenericWorkload=true,TopologyAwareWorkloadScheduling=true",
    }


@pytest.mark.parametrize("options", [KubernetesOptions(), AS_CLUSTER], ids=["second", "cluster"])
def test_what_is_written_lints_clean(options: KubernetesOptions) -> None:
    texts = files(cluster(DENSE, options=options))
    given = {path: text.encode() for path, text in texts.items() if path.endswith(".yaml")}
    report = api.lint_texts(given, cluster(DENSE, options=options))
    assert [f"{each.code} {each.message}" for each in report.findings] == []


def test_comments_keep_to_the_width() -> None:
    lines = files(cluster(DENSE))["kubernetes/scheduler.yaml"].splitlines()
    assert max(len(line) for line in lines if line.lstrip().startswith("#")) <= 80


def test_the_page_names_files_that_there_are() -> None:
    for options in (KubernetesOptions(), AS_CLUSTER):
        made = files(cluster(DENSE, options=options))
        page = made["kubernetes/README.md"]
        named = set(re.findall(r"`([a-z-]+\.yaml)`", page))
        assert named <= {path.rpartition("/")[2] for path in made}
        assert "dense-scheduler" in page


@pytest.mark.parametrize(("namespace", "told"), [("kube-system", False), ("sched", True)])
def test_a_namespace_of_its_own_must_be_there(namespace: str, told: bool) -> None:
    page = files(cluster(DENSE, options=KubernetesOptions(SchedulerOptions(namespace=namespace))))[
        "kubernetes/README.md"
    ]
    assert (f"Create namespace `{namespace}` first" in page) is told
