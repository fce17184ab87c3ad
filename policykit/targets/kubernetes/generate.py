"""Kubernetes' own objects, and the configuration of its scheduler if the policy enables one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.manifests.writer import dump_all
from policykit.model.cluster import Cluster
from policykit.model.queue import Quota
from policykit.targets.kubernetes import limitations, options, readme, versions
from policykit.targets.kubernetes.objects import autoscalers, autoscaling, priorities, quotas, ranges
from policykit.targets.kubernetes.objects.ranges import LimitRange
from policykit.targets.kubernetes.scheduler import delivery as scheduler
from policykit.targets.kubernetes.scheduler import plan, preference

TARGET = "kubernetes"
PRIORITIES = "kubernetes/priorities.yaml"
QUOTAS = "kubernetes/quotas.yaml"
RANGES = "kubernetes/limit-ranges.yaml"
AUTOSCALERS = "kubernetes/autoscalers.yaml"
PAGE = "kubernetes/README.md"
_WITHOUT_PAGE = frozenset({PRIORITIES, QUOTAS})
"""Files that need no explanation in a README."""


def generate(cluster: Cluster) -> Generated:
    """Files of `kubernetes/`, each only where needed; and what Kubernetes alone cannot guarantee.

    Raises PolicykitError for ranges of containers on cards.
    """
    stated, version = options.of(cluster), versions.parse(cluster.kubernetes_version)
    scalers, unscaled = autoscaling.autoscalers(cluster, version)
    counted = [quota for quota in cluster.quotas if not _only_containers(quota)]
    limited = [
        LimitRange(quota.namespace, quota.name, quota.containers)
        for quota in cluster.quotas
        if quota.containers and any(quota.containers)
    ]
    artifacts = [
        *_manifest(PRIORITIES, map(priorities.write, cluster.priorities)),
        *_manifest(QUOTAS, (quotas.write(quotas.resource_quota(quota)) for quota in counted)),
        *_manifest(RANGES, map(ranges.write, limited)),
        *_manifest(AUTOSCALERS, map(autoscalers.write, scalers)),
    ]
    planned = plan.plan(cluster, stated.scheduler, version)
    running, said = scheduler.generate(cluster, stated, planned, version)
    artifacts += running
    if any(artifact.path not in _WITHOUT_PAGE for artifact in artifacts):
        paths = [artifact.path for artifact in artifacts]
        shown = readme.text(paths, version, planned.profiles, stated.scheduler.namespace)
        artifacts.append(Artifact(PAGE, shown, Role.PAGE))
    messages = (
        *(message for quota in cluster.quotas for message in quotas.uncounted(quota)),
        *unscaled,
        *said,
        *limitations.notices(cluster, stated),
    )
    preferred = preference.notices(cluster, planned.weights_default)
    return Generated(tuple(artifacts), (*preferred, *(Notice(TARGET, message) for message in messages)))


def _only_containers(quota: Quota) -> bool:
    """Whether it is a LimitRange alone."""
    return quota.containers is not None and not (quota.requests or quota.limits or quota.pods is not None)


def _manifest(path: str, objects: Iterable[dict[str, Any]]) -> Iterator[Artifact]:
    text = dump_all(objects)
    if text:
        yield Artifact(path, text, Role.MANIFEST)
