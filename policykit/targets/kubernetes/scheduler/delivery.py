"""Files that run the profiles: in a second kube-scheduler, or in the cluster's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from textwrap import wrap
from typing import Any

from policykit.generator.artifact import Artifact, Role
from policykit.manifests import writer
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.targets.kubernetes import options, pods
from policykit.targets.kubernetes.options import KubernetesOptions, SchedulerOptions
from policykit.targets.kubernetes.scheduler import configuration, messages
from policykit.targets.kubernetes.scheduler.configuration import Configuration, Lease
from policykit.targets.kubernetes.scheduler.profiles import Plan
from policykit.targets.kubernetes.versions import KUBEADM_LISTS

SECOND = "kubernetes/scheduler.yaml"
CONFIGURATION = "kubernetes/kube-scheduler.yaml"
KUBEADM = "kubernetes/kubeadm.yaml"
_WIDTH = 74
"""Width of comments: indented in a ConfigMap they still fit into 80 columns."""


def generate(
    cluster: Cluster, stated: KubernetesOptions, made: Plan, version: Version
) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Files and notices; no files if no placement has a profile."""
    if not made.placement_profiles:
        return (), made.notices
    gates = _gates(cluster, stated, version)
    if made.way == options.CLUSTER:
        text = configuration_text(made, Configuration(made.profiles, kubeconfig=KUBECONFIG))
        artifacts = (
            Artifact(CONFIGURATION, text, Role.NODE),
            Artifact(KUBEADM, writer.dump(cluster_configuration(version, gates)), Role.NODE),
        )
        return artifacts, (*made.notices, messages.RESTART)
    lease = Lease(SECOND_NAME, stated.scheduler.namespace)
    text = configuration_text(made, Configuration(made.profiles, lease))
    documents = writer.dump_all(second_scheduler(text, stated.scheduler, version, gates))
    assumed = () if cluster.kubernetes_version else (messages.ASSUMED_VERSION,)
    return (Artifact(SECOND, documents, Role.MANIFEST),), (*made.notices, *assumed)


def configuration_text(made: Plan, whole: Configuration) -> str:
    """The file, with the reasons for its weights as comments at the top."""
    lines: list[str] = []
    for planned in made.placement_profiles:
        for number, comment in enumerate(planned.comments):
            indent = "  " if number else ""
            lines += wrap(comment, _WIDTH, initial_indent=indent, subsequent_indent="    ")
    return "".join(f"# {line}\n" for line in lines) + writer.dump(configuration.write(whole))


def _gates(cluster: Cluster, stated: KubernetesOptions, version: Version) -> tuple[str, ...]:
    """Feature gates that the scheduler needs for gangs."""
    kinds = [kind for kind in cluster.workloads.values() if pods.is_native_gang(kind, cluster)]
    known = stated.native_gang and cluster.kubernetes_version and pods.group_api_version(version)
    return pods.pod_group_gates(kinds, version) if kinds and known else ()


CONFIGURATION_FILE = "/etc/kubernetes/kube-scheduler.yaml"
"""Path of the configuration on each control plane node."""
KUBECONFIG = "/etc/kubernetes/scheduler.conf"
"""Set in the file, since with --config kube-scheduler ignores the flag --kubeconfig."""


def cluster_configuration(version: Version, gates: Sequence[str] = ()) -> dict[str, Any]:
    """The part of kubeadm's ClusterConfiguration that passes the file to the scheduler."""
    lists = version >= KUBEADM_LISTS
    flags = {"config": CONFIGURATION_FILE, **({"feature-gates": feature_gates(gates)} if gates else {})}
    volume = {
        "name": "config",
        "hostPath": CONFIGURATION_FILE,
        "mountPath": CONFIGURATION_FILE,
        "readOnly": True,
        "pathType": "File",
    }
    return {
        "apiVersion": f"kubeadm.k8s.io/{'v1beta4' if lists else 'v1beta3'}",
        "kind": "ClusterConfiguration",
        "scheduler": {
            "extraArgs": [{"name": k, "value": v} for k, v in flags.items()] if lists else flags,
            "extraVolumes": [volume],
        },
    }


SECOND_NAME = "policykit-scheduler"
CHECKSUM = "policykit.io/configuration"
"""Pod annotation: changing the configuration changes it, which restarts the Deployment."""
_CONFIGURATION_KEY = "kube-scheduler.yaml"
REPOSITORY = "registry.k8s.io/kube-scheduler"
_FOLDER = "/etc/kube-scheduler"
_PORT = 10259
_CLUSTER_ROLES = ("system:kube-scheduler", "system:volume-scheduler")
LABELS = {"app.kubernetes.io/name": SECOND_NAME}


def image(stated: SchedulerOptions, version: Version) -> str:
    return stated.image or f"{REPOSITORY}:v{version}"


def second_scheduler(
    configuration: str, stated: SchedulerOptions, version: Version, gates: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """ServiceAccount, RBAC, ConfigMap and Deployment, in the order they are applied."""
    namespace = stated.namespace
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(namespace)}
    for role in _CLUSTER_ROLES:
        yield _binding(
            "ClusterRoleBinding", f"{SECOND_NAME}:{role.removeprefix('system:')}", "", role, namespace
        )
    # Lets it read the ConfigMap in kube-system by which it authenticates requests to its port.
    reader = "extension-apiserver-authentication-reader"
    yield _binding("RoleBinding", f"{SECOND_NAME}:{reader}", "kube-system", reader, namespace, kind="Role")
    yield _leases(namespace)
    yield _binding(
        "RoleBinding", f"{SECOND_NAME}:leases", namespace, f"{SECOND_NAME}:leases", namespace, kind="Role"
    )
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(namespace),
        "data": {_CONFIGURATION_KEY: configuration},
    }
    yield _deployment(configuration, stated, _container(stated, version, gates))


def feature_gates(gates: Sequence[str]) -> str:
    """The value of --feature-gates."""
    return ",".join(f"{gate}=true" for gate in gates)


def _metadata(namespace: str, name: str = SECOND_NAME) -> dict[str, Any]:
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(LABELS)}


def _binding(
    what: str, name: str, where: str, role: str, account: str, kind: str = "ClusterRole"
) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": what,
        "metadata": _metadata(where, name),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": SECOND_NAME, "namespace": account}],
    }


def _leases(namespace: str) -> dict[str, Any]:
    """Role for its own lease: system:kube-scheduler may only update that of kube-scheduler."""
    leases = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": _metadata(namespace, f"{SECOND_NAME}:leases"),
        "rules": [
            {**leases, "verbs": ["create"]},
            {**leases, "resourceNames": [SECOND_NAME], "verbs": ["get", "list", "update", "watch"]},
        ],
    }


def _deployment(configuration: str, stated: SchedulerOptions, container: dict[str, Any]) -> dict[str, Any]:
    checksum = sha256(configuration.encode()).hexdigest()
    template = {
        "metadata": {"annotations": {CHECKSUM: checksum}, "labels": dict(LABELS)},
        "spec": {
            "serviceAccountName": SECOND_NAME,
            "priorityClassName": "system-cluster-critical",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65534,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
            "volumes": [{"name": "configuration", "configMap": {"name": SECOND_NAME}}],
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(stated.namespace),
        "spec": {
            "replicas": stated.replicas,
            "selector": {"matchLabels": dict(LABELS)},
            "template": template,
        },
    }


def _container(stated: SchedulerOptions, version: Version, gates: Sequence[str]) -> dict[str, Any]:
    featured = [f"--feature-gates={feature_gates(gates)}"] if gates else []
    probe = {"httpGet": {"path": "/healthz", "port": _PORT, "scheme": "HTTPS"}}
    return {
        "name": "kube-scheduler",
        "image": image(stated, version),
        "command": ["kube-scheduler"],
        "args": [f"--config={_FOLDER}/{_CONFIGURATION_KEY}", f"--secure-port={_PORT}", *featured],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "livenessProbe": {**probe, "initialDelaySeconds": 15},
        "readinessProbe": dict(probe),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "configuration", "mountPath": _FOLDER, "readOnly": True}],
    }
