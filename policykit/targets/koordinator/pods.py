"""Labels, annotations and PodGroups that Koordinator's pods need: gang, quota and class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.koordinator import names, options, versions
from policykit.targets.koordinator.names import GROUP_LABELS, QOS_CLASS, QUOTA_NAME, SCHEDULER, TARGET_NAME
from policykit.targets.koordinator.objects import colocation
from policykit.targets.koordinator.objects.quotas import BUILT_IN
from policykit.targets.koordinator.objects.values import compact, present
from policykit.targets.koordinator.scheduler.fields import LONGEST_WAIT
from policykit.targets.koordinator.versions import NETWORK_TOPOLOGY

API_VERSION = f"{names.GROUP_API}/v1alpha1"
KIND = "PodGroup"
STRICT, NON_STRICT = "Strict", "NonStrict"
MUST_GATHER, PREFER_GATHER = "MustGather", "PreferGather"
_MODES = {"wait": STRICT, "start": NON_STRICT, "fail": STRICT}
_RECURRING = frozenset({"CronJob", "CronWorkflow", "ScheduledSparkApplication"})


class GatherStrategy(NamedTuple):
    """Pods are placed in one domain of a layer of the network (Koordinator 1.7 and newer)."""

    layer: str
    strategy: str = MUST_GATHER


class Gang(NamedTuple):
    """Pods that start together."""

    name: str
    namespace: str = ""
    minimum: int | None = None
    total: int | None = None
    """How many pods there will be; None: `minimum`."""
    mode: str = ""
    """Strict or NonStrict; empty: Strict."""
    timeout: int | None = None
    """Seconds that a pod with a node waits for the others; None: the scheduler's default."""
    gather: tuple[GatherStrategy, ...] = ()


def write_pod_group(gang: Gang) -> dict[str, Any]:
    """A PodGroup."""
    annotations = _annotations(gang)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": gang.name, **present(namespace=gang.namespace, annotations=annotations)},
        "spec": present(minMember=gang.minimum, scheduleTimeoutSeconds=gang.timeout),
    }


def write_gang_annotations(gang: Gang) -> dict[str, str]:
    """Annotations of every pod of a gang that has no PodGroup."""
    annotations = {names.GANG_NAME: gang.name}
    if gang.minimum is not None:
        annotations[names.MIN_AVAILABLE] = str(gang.minimum)
    if gang.timeout is not None:
        annotations[names.WAITING_TIME] = f"{gang.timeout}s"
    return annotations | _annotations(gang)


def _annotations(gang: Gang) -> dict[str, str]:
    """The annotations that pods and PodGroups have in common."""
    gathered = [{"layer": each.layer, "strategy": each.strategy} for each in gang.gather]
    stated = {
        names.TOTAL_NUMBER: "" if gang.total is None else str(gang.total),
        names.GANG_MODE: gang.mode,
        names.TOPOLOGY_SPEC: compact({"gatherStrategy": gathered}) if gathered else "",
    }
    return {key: value for key, value in stated.items() if value}


class PlannedGang(NamedTuple):
    """The gang, if there is one to write, and notices about what it cannot express."""

    gang: Gang | None = None
    notices: tuple[str, ...] = ()


def gang_of(kind: WorkloadKind, cluster: Cluster, pods: PodContext, version: Version) -> PlannedGang:
    """The gang of a job's pods; none for a single pod, or for a component, whose pods are unknown."""
    if kind.gang != "all":
        return PlannedGang(notices=tuple(_gangless_notices(kind)))
    if not pods.job:
        return PlannedGang()
    rule = kind.gang_rule or GangRule()
    total = _total(pods)
    if total is not None and total <= 1:
        return PlannedGang()
    minimum = rule.size if rule.size is not None else total
    unnamed = () if pods.owner else (f"{kind.name}: the object has no name, so its gang has none either",)
    unknown = (
        (
            f"{kind.name}: the number of pods of {pods.owner or 'the object'} is not fixed, and a gang "
            "needs one: state gang.size in the policy",
        )
        if minimum is None
        else ()
    )
    if unnamed or unknown or minimum is None:
        return PlannedGang(notices=unnamed + unknown)
    gather, unplaced = _gather(kind, cluster, version, minimum, total)
    if total is not None and minimum > total:
        few = f"{kind.name}: gang.size is {minimum}, but {pods.owner} has {total} pods: {total} is written"
        minimum, unplaced = total, (*unplaced, few)
    gang = Gang(
        pods.owner,
        pods.namespace,
        minimum,
        total if total is not None and total > minimum else None,
        _MODES.get(rule.on_timeout, ""),
        min(rule.timeout, LONGEST_WAIT) if rule.timeout else None,
        gather=gather,
    )
    return PlannedGang(gang, (*_timeout_notices(kind, rule), *unplaced, *_recurrence_notices(kind, pods)))


def _total(pods: PodContext) -> int | None:
    """Pods of the whole job; None if the number is not fixed."""
    numbers = [members.replicas for members in pods.job]
    return None if None in numbers else sum(number or 0 for number in numbers)


def _gather(
    kind: WorkloadKind, cluster: Cluster, version: Version, minimum: int, total: int | None
) -> tuple[tuple[GatherStrategy, ...], tuple[str, ...]]:
    within = kind.within
    if within is None:
        return (), ()
    close = f"{kind.name} must stay within one {within.level}"
    if version < NETWORK_TOPOLOGY:
        return (), (
            f"{close}: Koordinator {version} does not place gangs by network topology (added in "
            f"{NETWORK_TOPOLOGY}). The closest alternative is preferred podAffinity on the level's "
            "label",
        )
    if total is not None and minimum < total:
        return (), (
            f"{close}: Koordinator honours topology only for gangs whose pods all start together, but only "
            f"{minimum} of {total} do. State gang: all",
        )
    if within.level not in {level.name for level in cluster.levels}:
        return (), (f"{close}, but the policy has no label for that level",)
    return (GatherStrategy(within.level, MUST_GATHER if within.hard else PREFER_GATHER),), ()


def _gangless_notices(kind: WorkloadKind) -> Iterator[str]:
    if kind.within is not None:
        yield (
            f"{kind.name} must stay within one {kind.within.level}: Koordinator honours topology only for "
            "gangs. State gang: all"
        )


def _timeout_notices(kind: WorkloadKind, rule: GangRule) -> Iterator[str]:
    if rule.timeout and rule.timeout > LONGEST_WAIT:
        yield (
            f"{kind.name}: gang.timeout is {rule.timeout} s, but the scheduler ends every wait after "
            f"{LONGEST_WAIT} s: {LONGEST_WAIT} s is written"
        )
    if rule.on_timeout == "start":
        yield (
            f"{kind.name}: Koordinator never starts part of a gang; the closest to gang.onTimeout: start "
            "is mode NonStrict, where pods keep their place while others find none"
        )
    if rule.on_timeout == "fail":
        yield (
            f"{kind.name}: Koordinator does not fail a job whose gang does not start, but retries it. The "
            "closest to gang.onTimeout: fail is activeDeadlineSeconds of the job"
        )


def _recurrence_notices(kind: WorkloadKind, pods: PodContext) -> Iterator[str]:
    if pods.owner_kind in _RECURRING:
        yield (
            f"{kind.name}: Koordinator treats all runs of {pods.owner_kind} {pods.owner} as one gang: once "
            "it has started, later runs start pod by pod as long as pods of earlier ones remain"
        )


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
    together = len(pods.job) > 1 or found.gang.gather or options.koordinator_options(target).gang_objects
    if together and not label_value_problem(found.gang.name):
        labels[GROUP_LABELS[0]] = found.gang.name
        objects = (write_pod_group(found.gang),)
        return PodFields(labels, spec=spec, objects=objects, notices=found.notices)
    return PodFields(labels, write_gang_annotations(found.gang), spec=spec, notices=found.notices)


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
