"""A second kube-scheduler: what it runs as, and what it may do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from policykit.targets.kubernetes.options import SchedulerOptions
from policykit.targets.release import Version

NAME = "policykit-scheduler"
CHECKSUM = "policykit.io/configuration"
"""Annotation of its pods: another configuration makes other pods, and so a restart."""
KEY = "kube-scheduler.yaml"
REPOSITORY = "registry.k8s.io/kube-scheduler"
_FOLDER = "/etc/kube-scheduler"
_PORT = 10259
_CLUSTER_ROLES = ("system:kube-scheduler", "system:volume-scheduler")
LABELS = {"app.kubernetes.io/name": NAME}


def image(stated: SchedulerOptions, version: Version) -> str:
    return stated.image or f"{REPOSITORY}:v{version}"


def objects(
    configuration: str, stated: SchedulerOptions, version: Version, gates: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Account, rights, configuration and Deployment, in the order they are applied."""
    namespace = stated.namespace
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(namespace)}
    for role in _CLUSTER_ROLES:
        yield _binding("ClusterRoleBinding", f"{NAME}:{role.removeprefix('system:')}", "", role, namespace)
    # What kube-system keeps of the API server's own authentication, for requests to its port.
    reader = "extension-apiserver-authentication-reader"
    yield _binding("RoleBinding", f"{NAME}:{reader}", "kube-system", reader, namespace, kind="Role")
    yield _leases(namespace)
    yield _binding("RoleBinding", f"{NAME}:leases", namespace, f"{NAME}:leases", namespace, kind="Role")
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(namespace),
        "data": {KEY: configuration},
    }
    yield _deployment(configuration, stated, _container(stated, version, gates))


def feature_gates(gates: Sequence[str]) -> str:
    """The value of --feature-gates."""
    return ",".join(f"{gate}=true" for gate in gates)


def _metadata(namespace: str, name: str = NAME) -> dict[str, Any]:
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": dict(LABELS)}


def _binding(
    what: str, name: str, where: str, role: str, account: str, kind: str = "ClusterRole"
) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": what,
        "metadata": _metadata(where, name),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": account}],
    }


def _leases(namespace: str) -> dict[str, Any]:
    """Its own lease: system:kube-scheduler may change only the one of kube-scheduler."""
    leases = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": _metadata(namespace, f"{NAME}:leases"),
        "rules": [
            {**leases, "verbs": ["create"]},
            {**leases, "resourceNames": [NAME], "verbs": ["get", "list", "update", "watch"]},
        ],
    }


def _deployment(configuration: str, stated: SchedulerOptions, container: dict[str, Any]) -> dict[str, Any]:
    checksum = sha256(configuration.encode()).hexdigest()
    template = {
        "metadata": {"annotations": {CHECKSUM: checksum}, "labels": dict(LABELS)},
        "spec": {
            "serviceAccountName": NAME,
            "priorityClassName": "system-cluster-critical",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65534,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
            "volumes": [{"name": "configuration", "configMap": {"name": NAME}}],
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
        "args": [f"--config={_FOLDER}/{KEY}", f"--secure-port={_PORT}", *featured],
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
