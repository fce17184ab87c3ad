"""README of the generated Kubernetes files: what each is, how to apply it, and when it takes effect."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.targets.kubernetes.scheduler import kubeadm, second
from policykit.targets.kubernetes.scheduler.configuration import Profile
from policykit.targets.release import Version

_ROWS = {
    "kubernetes/priorities.yaml": (
        "PriorityClasses. `value` and `preemptionPolicy` are immutable: to change one, delete the object "
        "and apply again."
    ),
    "kubernetes/quotas.yaml": "ResourceQuotas. They limit new pods, not running ones.",
    "kubernetes/limit-ranges.yaml": (
        "LimitRanges: defaults and bounds of containers. They apply to pods created afterwards."
    ),
    "kubernetes/autoscalers.yaml": (
        "HorizontalPodAutoscalers. Take `spec.replicas` out of the workloads they scale, or each apply "
        "resets the replicas."
    ),
}


def text(paths: Sequence[str], version: Version, profiles: Sequence[Profile], namespace: str) -> str:
    """Markdown. `profiles` are those of the scheduler written, empty for none."""
    rows = [f"- `{_name(path)}`: {_ROWS[path]}" for path in sorted(paths) if path in _ROWS]
    parts = [f"# Kubernetes {version.major}.{version.minor}"]
    parts += ["\n".join(rows)] if rows else []
    names = ", ".join(f"`{profile.scheduler}`" for profile in profiles)
    if "kubernetes/scheduler.yaml" in paths:
        parts += _second(names, namespace)
    if "kubernetes/kube-scheduler.yaml" in paths:
        parts += _cluster(names)
    return "\n\n".join(parts) + "\n"


def _second(names: str, namespace: str) -> list[str]:
    return [
        "## Second scheduler",
        f"`scheduler.yaml` runs a second kube-scheduler as Deployment `{second.NAME}` in namespace "
        f"`{namespace}`. It serves pods whose `schedulerName` is {names}; all others stay with the "
        "cluster's own scheduler. The comments in its configuration give the arithmetic of the weights.",
        f"It reads the configuration at startup. The annotation `{second.CHECKSUM}` of its pods is a "
        f"checksum of the configuration, so applying a change restarts it: `kubectl -n {namespace} rollout "
        f"status deployment/{second.NAME}`.",
        *(
            []
            if namespace == "kube-system"
            else [f"Create namespace `{namespace}` first: the generated objects do not include it."]
        ),
        "Its pods tolerate no taints, so the cluster needs an untainted node. Two schedulers do not see "
        "each other's decisions until pods are bound, so let only one of them schedule to each pool if you "
        "can; a node that both filled rejects the later pod, which its controller then recreates.",
    ]


def _cluster(names: str) -> list[str]:
    return [
        "## The cluster's own scheduler",
        f"`kube-scheduler.yaml` is its configuration, with the profiles {names}. The comments in it give "
        "the arithmetic of the weights. On each control plane node, one after the other:",
        f"1. copy it to `{kubeadm.FILE}`;\n"
        "2. merge `kubeadm.yaml` into the ClusterConfiguration, and run `kubeadm init phase control-plane "
        "scheduler --config FILE`. Without kubeadm, add the flag `--config` and the mount to the static "
        "pod by "
        "hand;\n"
        "3. wait for the scheduler to be ready: `kubectl -n kube-system get pods -l "
        "component=kube-scheduler`.",
        "It reads the file only at startup. After a later change, copy the file and restart the static "
        "pod: move `/etc/kubernetes/manifests/kube-scheduler.yaml` away, wait until the pod is gone, and "
        "move it back. An invalid file stops it: keep the previous one.",
    ]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
