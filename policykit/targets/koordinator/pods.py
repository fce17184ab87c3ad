"""Labels, annotations and PodGroups that Koordinator's pods need: gang, quota and class."""

from __future__ import annotations

from typing import Any

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets.koordinator import options, versions
from policykit.targets.koordinator.names import GROUP_LABELS, QOS_CLASS, QUOTA_NAME, SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.objects import colocation, gangs
from policykit.targets.koordinator.objects.gangs import gang_of
from policykit.targets.koordinator.objects.quotas import BUILT_IN

_NO_QUOTA = frozenset({"default", "root", "root.default", *BUILT_IN})
"""Queues that are built into other systems or Koordinator, which its pods never name."""


def fields(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> PodFields:
    """Labels, annotations and the PodGroup for pods of a workload kind.

    A gang with one pod template is written as annotations of its pods, without an object, unless the policy
    asks for objects. With several templates or a network topology it is a PodGroup, which states the size
    once, unless its name is too long for the label of the pods.
    """
    target = cluster.targets.get(TARGET_NAME)
    version = versions.parse(target.version if target else "")
    labels, spec = _class(kind, cluster)
    own = {queue.name for queue in cluster.queues}
    if kind.queue and (kind.queue in own or kind.queue not in _NO_QUOTA):
        labels[QUOTA_NAME] = kind.queue
    found = gang_of(kind, cluster, pods, version)
    if found.gang is None:
        return PodFields(labels, spec=spec, notices=found.notices)
    together = len(pods.job) > 1 or found.gang.gather or options.of(target).gang_objects
    if together and not label_value_problem(found.gang.name):
        labels[GROUP_LABELS[0]] = found.gang.name
        objects = (gangs.write(found.gang),)
        return PodFields(labels, spec=spec, objects=objects, notices=found.notices)
    return PodFields(labels, gangs.write_pods(found.gang), spec=spec, notices=found.notices)


def scheduler_name(cluster: Cluster) -> str:
    """The schedulerName of Koordinator's pods."""
    target = cluster.targets.get(TARGET_NAME)
    return (target.scheduler_name if target else "") or SCHEDULER


def _class(kind: WorkloadKind, cluster: Cluster) -> tuple[dict[str, str], dict[str, Any]]:
    """The label of its QoS class, and Koordinator's PriorityClass if the kind has none of its own."""
    of = colocation.classes(cluster).get(kind.name)
    if of is None:
        return {}, {}
    own = {} if kind.priority_class else {"priorityClassName": colocation.priority_class(kind, of)}
    return {QOS_CLASS: of.qos}, own
