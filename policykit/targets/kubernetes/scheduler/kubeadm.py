"""The cluster's own scheduler as kubeadm runs it: a static pod that reads a file of its node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policykit.targets.kubernetes.scheduler.second import feature_gates
from policykit.targets.kubernetes.versions import KUBEADM_LISTS
from policykit.targets.release import Version

FILE = "/etc/kubernetes/kube-scheduler.yaml"
"""Path of the configuration on each control plane node."""
KUBECONFIG = "/etc/kubernetes/scheduler.conf"
"""Stated in the file: with --config, kube-scheduler does not read the flag --kubeconfig."""


def cluster_configuration(version: Version, gates: Sequence[str] = ()) -> dict[str, Any]:
    """The part of kubeadm's ClusterConfiguration that hands the file to the scheduler."""
    lists = version >= KUBEADM_LISTS
    flags = {"config": FILE, **({"feature-gates": feature_gates(gates)} if gates else {})}
    volume = {"name": "config", "hostPath": FILE, "mountPath": FILE, "readOnly": True, "pathType": "File"}
    return {
        "apiVersion": f"kubeadm.k8s.io/{'v1beta4' if lists else 'v1beta3'}",
        "kind": "ClusterConfiguration",
        "scheduler": {
            "extraArgs": [{"name": k, "value": v} for k, v in flags.items()] if lists else flags,
            "extraVolumes": [volume],
        },
    }
