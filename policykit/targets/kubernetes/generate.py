"""Kubernetes' own objects, the configuration of its scheduler if the policy enables one, and a README."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.queue import Quota
from policykit.model.release import Version
from policykit.targets.kubernetes import (
    autoscalers,
    limit_ranges,
    notices,
    options,
    priorities,
    quotas,
    versions,
)
from policykit.targets.kubernetes.limit_ranges import LimitRange
from policykit.targets.kubernetes.scheduler import delivery, plan, plugins
from policykit.targets.kubernetes.scheduler import delivery as scheduler
from policykit.targets.kubernetes.scheduler.configuration import Profile

TARGET = "kubernetes"
PRIORITIES = "kubernetes/priorities.yaml"
QUOTAS = "kubernetes/quotas.yaml"
RANGES = "kubernetes/limit-ranges.yaml"
AUTOSCALERS = "kubernetes/autoscalers.yaml"
README = "kubernetes/README.md"
_WITHOUT_README = frozenset({PRIORITIES, QUOTAS})
"""Files that need no explanation in a README."""


def generate(cluster: Cluster) -> Generated:
    """The files of `kubernetes/` that the policy needs, with notices.

    Raises PolicykitError for container ranges of cards.
    """
    stated, version = options.of(cluster), versions.parse(cluster.kubernetes_version)
    scalers, unscaled = autoscalers.autoscalers(cluster, version)
    counted = [quota for quota in cluster.quotas if not _only_containers(quota)]
    limited = [
        LimitRange(quota.namespace, quota.name, limit_ranges.with_defaults(quota.containers))
        for quota in cluster.quotas
        if quota.containers and any(quota.containers)
    ]
    artifacts = [
        *_manifest(PRIORITIES, map(priorities.write, cluster.priorities)),
        *_manifest(QUOTAS, (quotas.write(quotas.resource_quota(quota)) for quota in counted)),
        *_manifest(RANGES, map(limit_ranges.write, limited)),
        *_manifest(AUTOSCALERS, map(autoscalers.write, scalers)),
    ]
    planned = plan.plan(cluster, stated.scheduler, version)
    running, said = scheduler.generate(cluster, stated, planned, version)
    artifacts += running
    if any(artifact.path not in _WITHOUT_README for artifact in artifacts):
        paths = [artifact.path for artifact in artifacts]
        shown = _readme(paths, version, planned.profiles, stated.scheduler.namespace)
        artifacts.append(Artifact(README, shown, Role.PAGE))
    messages = (
        *(message for quota in cluster.quotas for message in quotas.uncounted(quota)),
        *unscaled,
        *said,
        *notices.notices(cluster, stated),
    )
    preferred = plugins.preference_notices(cluster, planned.weights_default)
    return Generated(tuple(artifacts), (*preferred, *(Notice(TARGET, message) for message in messages)))


def _only_containers(quota: Quota) -> bool:
    """Whether a quota only has ranges of containers, and so becomes only a LimitRange."""
    return quota.containers is not None and not (quota.requests or quota.limits or quota.pods is not None)


def _manifest(path: str, objects: Iterable[dict[str, Any]]) -> Iterator[Artifact]:
    text = dump_all(objects)
    if text:
        yield Artifact(path, text, Role.MANIFEST)


_README_ROWS = {
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


def _readme(paths: Sequence[str], version: Version, profiles: Sequence[Profile], namespace: str) -> str:
    """Markdown. `profiles`: those of the generated scheduler configuration; empty: there is none."""
    rows = [f"- `{_file_name(path)}`: {_README_ROWS[path]}" for path in sorted(paths) if path in _README_ROWS]
    parts = [f"# Kubernetes {version.major}.{version.minor}"]
    parts += ["\n".join(rows)] if rows else []
    names = ", ".join(f"`{profile.scheduler}`" for profile in profiles)
    if "kubernetes/scheduler.yaml" in paths:
        parts += _second_scheduler(names, namespace)
    if "kubernetes/kube-scheduler.yaml" in paths:
        parts += _own_scheduler(names)
    return "\n\n".join(parts) + "\n"


def _second_scheduler(names: str, namespace: str) -> list[str]:
    return [
        "## Second scheduler",
        f"`scheduler.yaml` runs a second kube-scheduler as Deployment `{delivery.SECOND_NAME}` in namespace "
        f"`{namespace}`. It serves pods whose `schedulerName` is {names}; all others stay with the "
        "cluster's own scheduler. The comments in its configuration give the arithmetic of the weights.",
        f"It reads the configuration at startup. The annotation `{delivery.CHECKSUM}` of its pods is a "
        f"checksum of the configuration, so applying a change restarts it: `kubectl -n {namespace} rollout "
        f"status deployment/{delivery.SECOND_NAME}`.",
        *(
            []
            if namespace == "kube-system"
            else [f"Create namespace `{namespace}` first: the generated objects do not include it."]
        ),
        "Its pods tolerate no taints, so the cluster needs an untainted node. Two schedulers do not see "
        "each other's decisions until pods are bound, so let only one of them schedule to each pool if you "
        "can; a node that both filled rejects the later pod, which its controller then recreates.",
    ]


def _own_scheduler(names: str) -> list[str]:
    return [
        "## The cluster's own scheduler",
        f"`kube-scheduler.yaml` is its configuration, with the profiles {names}. The comments in it give "
        "the arithmetic of the weights. On each control plane node, one after the other:",
        f"1. copy it to `{delivery.CONFIGURATION_FILE}`;\n"
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


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
