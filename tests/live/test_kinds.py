"""What is read of a cluster covers all that rules, gates and the importer look at."""

from __future__ import annotations

import pytest

from policykit.kube.podsets import table
from policykit.live.kinds import Kind, Role, kinds
from policykit.rules import CATALOGUE
from policykit.targets import CONFIGURATIONS, FACTS

NOT_OF_CLUSTERS = {
    **dict.fromkeys(
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"), "rights are compared in files only"
    ),
    **dict.fromkeys(
        (
            "Assign",
            "ModifySet",
            "MutatingPolicy",
            "MutatingWebhookConfiguration",
            "NamespacedMutatingPolicy",
        ),
        "pods of a cluster are changed already, and nearly every cluster has some",
    ),
    **dict.fromkeys(
        (
            *("HostDeviceNetwork", "IPoIBNetwork", "MacvlanNetwork", "NetworkAttachmentDefinition"),
            *("NicClusterPolicy", "OVSNetwork", "SriovIBNetwork", "SriovNetwork", "SriovNetworkNodePolicy"),
            *("ComputeDomain", "NVIDIADriver", "NodeFeatureDiscovery", "Pipeline", "Task"),
        ),
        "few clusters have them: names in files are compared with those in files",
    ),
    **dict.fromkeys(
        ("GRPCRoute", "HTTPRoute", "Ingress", "NetworkPolicy"),
        "nearly every cluster has many: what they name is compared in files only",
    ),
    "Application": "of Argo CD, which applies what it names",
    "Cluster": "a file of kops",
    "ClusterConfig": "a file of eksctl",
    "Component": "a file of kustomize",
    "HelmRelease": "of Flux, which applies what it names",
    "InitConfiguration": "a file of kubeadm",
    "JoinConfiguration": "a file of kubeadm",
    "KubeSchedulerConfiguration": "a file of kube-scheduler, or a string in a ConfigMap",
    "Kustomization": "a file of kustomize",
    "Secret": "never read: names in files are compared with those in files",
    "ServiceAccount": "as Secrets; a cluster has no pods without theirs",
}


def test_every_kind_of_rules_and_facts_is_read() -> None:
    known = {kind.name for kind in kinds()}
    files = {known.name for known in CONFIGURATIONS} | {known.kind for known in CONFIGURATIONS}
    needed = {name for entry in CATALOGUE for name in entry.kinds or ()}
    needed |= {name for reader in FACTS for name in reader.kinds}
    assert needed - known - files - NOT_OF_CLUSTERS.keys() == set()


def test_every_kind_with_pods_is_read() -> None:
    read = {(kind.group, kind.name) for kind in kinds() if kind.role is Role.WORKLOADS}
    assert {(entry.group, entry.kind) for entry in table.entries()} == read


def test_secrets_are_not_read() -> None:
    assert "Secret" not in {kind.name for kind in kinds()}


@pytest.mark.parametrize(
    ("group", "name", "shown"),
    [
        ("apps", "Deployment", "Deployment"),
        ("batch", "Job", "Job"),
        ("batch.volcano.sh", "Job", "Job.batch.volcano.sh"),
        ("apps.kruise.io", "StatefulSet", "StatefulSet.apps.kruise.io"),
        ("scheduling.volcano.sh", "Queue", "Queue.scheduling.volcano.sh"),
        ("kueue.x-k8s.io", "LocalQueue", "LocalQueue"),
        ("", "Node", "Node"),
    ],
)
def test_names_tell_kinds_apart(group: str, name: str, shown: str) -> None:
    (kind,) = (each for each in kinds() if (each.group, each.name) == (group, name))
    assert kind.shown == shown


def test_shown_names_are_unique() -> None:
    every = [kind.shown for kind in kinds()]
    assert len(every) == len(set(every))


def test_a_kind_outside_the_table_has_its_group() -> None:
    assert Kind("rbac.authorization.k8s.io", "ClusterRole", Role.QUOTAS).shown.startswith("ClusterRole")
