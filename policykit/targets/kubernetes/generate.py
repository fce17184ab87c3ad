"""Kubernetes' own objects, the configuration of its scheduler, a README, and notices about limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policykit.generator.artifact import Artifact, Notice, Role, TargetOutput
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.queue import Quota
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.targets.kubernetes import autoscalers, options, pods, priorities, quotas, versions
from policykit.targets.kubernetes.options import KubernetesOptions
from policykit.targets.kubernetes.quotas import LimitRange
from policykit.targets.kubernetes.scheduler import delivery, plugins
from policykit.targets.kubernetes.scheduler import delivery as scheduler
from policykit.targets.kubernetes.scheduler.configuration import Profile
from policykit.targets.kubernetes.scheduler.profiles import plan


def notices(cluster: Cluster, stated: KubernetesOptions) -> Iterator[str]:
    """One notice per section; none for what another scheduler of the policy handles."""
    if options.is_only_scheduler(cluster):
        yield from _sharing(cluster)
    yield from _gangs(cluster, stated)


def _sharing(cluster: Cluster) -> Iterator[str]:
    if cluster.queues:
        queues = ", ".join(queue.name for queue in cluster.queues)
        yield (
            f"kube-scheduler has no queues, so the shares, guarantees and limits of {queues} have no effect. "
            "Nearest: quotas of the teams' namespaces, and priorities"
        )
    if cluster.preemption.within_queue is not None or cluster.preemption.reclaim is not None:
        yield (
            "kube-scheduler preempts by priority only and ignores `preemption` of queues. Nearest: "
            "priorities, with preempts: false for those that must not preempt"
        )
    if cluster.reservations:
        reserved = ", ".join(each.name for each in cluster.reservations)
        yield (
            f"kube-scheduler cannot reserve capacity, so reservations {reserved} have no effect. Nearest: "
            "placeholder pods of a lower priority that others preempt, or a separate pool"
        )


def _gangs(cluster: Cluster, stated: KubernetesOptions) -> Iterator[str]:
    kinds = [kind for kind in cluster.workloads.values() if pods.is_native_gang(kind, cluster)]
    version = versions.parse(cluster.kubernetes_version)
    if not stated.native_gang:
        if kinds and options.is_only_scheduler(cluster):
            yield (
                f"kube-scheduler starts the pods of {', '.join(kind.name for kind in kinds)} one by one: "
                "`gang` has no effect. "
                "Nearest: a scheduler with gangs (Volcano, Koordinator, YuniKorn), or from Kubernetes 1.35 "
                "on, targets.kubernetes.nativeGang"
            )
    elif not cluster.kubernetes_version:
        yield (
            "nativeGang needs the cluster's version, because the gang API differs in each release: set "
            "`kubernetes` in the policy"
        )
    elif not pods.group_api_version(version):
        yield (
            f"nativeGang: Kubernetes {version.major}.{version.minor} has no gang API; 1.35 is the first "
            "release with one. Nearest: a scheduler with gangs (Volcano, Koordinator, YuniKorn)"
        )
    elif kinds:
        yield from _native(kinds, version)


def _native(kinds: Sequence[WorkloadKind], version: Version) -> Iterator[str]:
    api, gates = pods.group_api_version(version), ", ".join(pods.pod_group_gates(kinds, version))
    yield (
        f"gangs of {', '.join(kind.name for kind in kinds)} use {api}, which the next release does not "
        f"accept. It is off by default: the API server needs --runtime-config={api}=true, and both it and "
        f"the scheduler need the feature gates {gates}. Without them the pod fields are dropped silently"
    )
    waiting = [k.name for k in kinds if k.gang_rule and (k.gang_rule.timeout or k.gang_rule.on_timeout)]
    if waiting:
        yield (
            "Kubernetes gangs wait 5 minutes for their pods and then try again, whatever timeout "
            f"{', '.join(waiting)} sets"
        )


TARGET = "kubernetes"
PRIORITIES = "kubernetes/priorities.yaml"
QUOTAS = "kubernetes/quotas.yaml"
RANGES = "kubernetes/limit-ranges.yaml"
AUTOSCALERS = "kubernetes/autoscalers.yaml"
README = "kubernetes/README.md"
_WITHOUT_README = frozenset({PRIORITIES, QUOTAS})
"""Files that need no explanation in a README."""


def generate(cluster: Cluster) -> TargetOutput:
    """The files of `kubernetes/` that the policy needs, with notices.

    Raises PolicykitError for container ranges of cards.
    """
    stated, version = options.kubernetes_options(cluster), versions.parse(cluster.kubernetes_version)
    scalers, unscaled = autoscalers.autoscalers(cluster, version)
    counted = [quota for quota in cluster.quotas if not _only_containers(quota)]
    limited = [
        LimitRange(quota.namespace, quota.name, quotas.with_defaults(quota.containers))
        for quota in cluster.quotas
        if quota.containers and any(quota.containers)
    ]
    artifacts = [
        *_manifest(PRIORITIES, map(priorities.write, cluster.priorities)),
        *_manifest(QUOTAS, (quotas.write_quota(quotas.resource_quota(quota)) for quota in counted)),
        *_manifest(RANGES, map(quotas.write_range, limited)),
        *_manifest(AUTOSCALERS, map(autoscalers.write, scalers)),
    ]
    planned = plan(cluster, stated.scheduler, version)
    running, scheduler_notices = scheduler.generate(cluster, stated, planned, version)
    artifacts += running
    if any(artifact.path not in _WITHOUT_README for artifact in artifacts):
        paths = [artifact.path for artifact in artifacts]
        shown = _readme(paths, version, planned.profiles, stated.scheduler.namespace)
        artifacts.append(Artifact(README, shown, Role.PAGE))
    messages = (
        *(message for quota in cluster.quotas for message in quotas.uncounted(quota)),
        *unscaled,
        *scheduler_notices,
        *notices(cluster, stated),
    )
    preferred = plugins.preference_notices(cluster, planned.weights_default)
    return TargetOutput(tuple(artifacts), (*preferred, *(Notice(TARGET, message) for message in messages)))


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
