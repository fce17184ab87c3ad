"""Autoscalers of workload kinds, for metrics that exist and targets that can be scaled."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.workload import Autoscaling, Metric, ScaleTarget, WorkloadKind
from policykit.targets.kubernetes.objects.autoscalers import UNMETERED, Autoscaler
from policykit.targets.kubernetes.versions import SCALE_TO_ZERO
from policykit.targets.release import Version

LONGEST_WINDOW = 3600
"""Seconds; the API server refuses a longer stabilization window."""
_MEASURED = ("cpu", "memory")
"""All that metrics-server reports of pods."""
_WITH_SCALE = frozenset({"Deployment", "StatefulSet", "ReplicaSet"})
_WITHOUT = frozenset({"Pod", "Job", "CronJob", "DaemonSet"})
_ADAPTERS = {
    "pods": ("custom.metrics.k8s.io", "prometheus-adapter"),
    "external": ("external.metrics.k8s.io", "prometheus-adapter or KEDA"),
}
"""Source of a metric to the API that must be served for it, and by what."""


def autoscalers(cluster: Cluster, version: Version) -> tuple[list[Autoscaler], list[str]]:
    """The objects in the policy's order, and notices about what is omitted."""
    found: list[Autoscaler] = []
    notices: list[str] = []
    for kind in cluster.workloads.values():
        if kind.autoscaling:
            scalers = list(_of(kind, kind.autoscaling))
            found += scalers
            notices += _notices(kind, kind.autoscaling, scalers, version)
    return _named_apart(found), notices


def _of(kind: WorkloadKind, stated: Autoscaling) -> Iterator[Autoscaler]:
    metrics = tuple(metric for metric in stated.metrics if _measured(metric))
    if stated.metrics and not metrics:
        return
    window = None if stated.cooldown is None else min(stated.cooldown, LONGEST_WINDOW)
    for target in stated.targets:
        if _scalable(target):
            yield Autoscaler(
                target.name,
                target,
                stated.maximum,
                stated.minimum,
                metrics or UNMETERED,
                window,
                kind.name,
            )


def _measured(metric: Metric) -> bool:
    return metric.source != "resource" or metric.name in _MEASURED


def _scalable(target: ScaleTarget) -> bool:
    if target.api_version == "apps/v1":
        return target.kind in _WITH_SCALE
    volcanos = target.api_version.startswith("batch.volcano.sh/")
    return target.kind not in _WITHOUT and not volcanos


def _named_apart(scalers: list[Autoscaler]) -> list[Autoscaler]:
    """Names with the kind where two workloads of one namespace have the same."""
    names = [(each.target.namespace, each.name) for each in scalers]
    return [
        each._replace(name=f"{each.name}-{each.target.kind.lower()}") if names.count(name) > 1 else each
        for each, name in zip(scalers, names, strict=True)
    ]


def _notices(
    kind: WorkloadKind, stated: Autoscaling, scalers: list[Autoscaler], version: Version
) -> Iterator[str]:
    who = f"autoscaling of {kind.name}"
    if not stated.targets:
        yield f"{who} names no targets, so no autoscaler is written: add targets with kind and name"
    unmeasured = [metric.name for metric in stated.metrics if not _measured(metric)]
    if unmeasured:
        yield (
            f"{who}: metrics-server reports cpu and memory only, never {', '.join(unmeasured)}; omitted. "
            "Nearest: a metric of the pods (pods: DCGM_FI_DEV_GPU_UTIL) through a metrics adapter"
        )
    for target in stated.targets:
        if not _scalable(target):
            yield (
                f"{who}: {target.kind} {target.name} has no scale subresource, so no autoscaler is written"
            )
        elif target.api_version != "apps/v1":
            yield (
                f"{who}: {target.kind} {target.name} can be scaled only if its CustomResourceDefinition has "
                "a scale subresource"
            )
    if scalers:
        yield from _running(who, stated, version)


def _running(who: str, stated: Autoscaling, version: Version) -> Iterator[str]:
    """What else must be there for the autoscalers to work."""
    for source, (api, adapters) in _ADAPTERS.items():
        names = ", ".join(metric.name for metric in stated.metrics if metric.source == source)
        if names:
            yield f"{who}: an adapter must serve {names} at {api}, for example {adapters}"
    if stated.minimum == 0 and version < SCALE_TO_ZERO:
        yield (
            f"{who}: min 0 is refused unless the feature gate HPAScaleToZero is on (alpha). Nearest: min 1, "
            "or KEDA"
        )
    if stated.cooldown is not None and stated.cooldown > LONGEST_WINDOW:
        yield (
            f"{who}: cooldown {stated.cooldown}s is more than {LONGEST_WINDOW}s, the longest there is; "
            f"{LONGEST_WINDOW}s is written"
        )
    yield f"{who}: take spec.replicas out of the manifests of its targets, or each apply undoes the scaling"
