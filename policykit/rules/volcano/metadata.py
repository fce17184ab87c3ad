"""Volcano's metadata of gangs and queues on pods and their owners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet, pod_sets
from policykit.kube.podsets.podset import title
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest, texts
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.severity import Severity
from policykit.rules.volcano import role_gangs
from policykit.targets import DEFAULT_SCHEDULER, TARGETS
from policykit.targets.volcano.names import (
    GROUP_MIN_MEMBER,
    GROUP_NAME,
    MAKES_GROUPS,
    NUMA_POLICY,
    QUEUE_NAME,
    SCHEDULER,
    TOPOLOGY_MODE,
    TOPOLOGY_TIER,
)

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_NUMA_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
"""Compared with the policy of the kubelet. Source: `filterNodeByPolicy` of numaaware (1.4 to 1.15)."""
_OWNERS = frozenset(
    {("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("batch", "Job")}
)
"""(API group, kind) whose own annotation sizes the PodGroup that is made for their pods."""

_GROUPED_BY: tuple[Path, ...] = (
    ("spec", "podGroupPolicy", "volcano"),
    ("spec", "podGroupPolicy", "volcanoScheduling"),
    ("spec", "schedulingStrategy", "volcanoSchedulingStrategy"),
    ("spec", "template", "spec", "schedulingStrategy", "volcanoSchedulingStrategy"),
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pg_controller_handler.go` of Volcano 1.15."""
    owner = (manifest.group, manifest.kind) in _OWNERS
    own = manifest.annotations.get(GROUP_MIN_MEMBER)
    if owner and own is not None and not is_placeholder(own) and not (_WHOLE.match(own) and int(own) >= 0):
        yield Violation(
            ("metadata", "annotations", GROUP_MIN_MEMBER),
            f"{GROUP_MIN_MEMBER} is {own!r}, not a whole number: the gang has 1 member",
            "write the number of pods that start together, in quotes",
        )
    sets = pod_sets(manifest.data)
    yield from _scheduled_elsewhere(manifest, sets)
    yield from role_gangs.check(manifest)
    for pod_set in sets:
        place = pod_set.places.get("annotations")
        if place is not None:
            if manifest.group in MAKES_GROUPS:
                yield from _overwritten(place, texts(lookup(manifest.data, place)))
            yield from _pods(manifest, pod_set, place, owner and own is None)
        joins = owner and pod_set.scheduler_name == SCHEDULER and not manifest.partial
        if joins and GROUP_NAME in manifest.annotations and GROUP_NAME not in pod_set.annotations:
            yield Violation(
                ("metadata", "annotations", GROUP_NAME),
                f"{GROUP_NAME} of the {manifest.kind} is not read: its pods do not join PodGroup "
                f"{manifest.annotations[GROUP_NAME]}",
                "move it to the annotations of the pod template",
                Severity.WARNING,
                key=True,
            )


def _overwritten(place: Path, annotations: Mapping[str, str]) -> Iterator[Violation]:
    """Source: `createJobPod` of Volcano (1.8 to 1.15)."""
    if GROUP_NAME in annotations:
        yield Violation(
            (*place, GROUP_NAME),
            f"{GROUP_NAME} is not read here: Volcano puts the pods in the PodGroup that it makes for the Job",
            "delete it; the pods of all tasks are one gang, of minAvailable pods",
            Severity.WARNING,
            key=True,
        )


def _scheduled_elsewhere(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[Violation]:
    """PodGroups that a controller creates for Volcano without setting schedulerName on the pods.

    Source: Trainer 2.3 `volcano` plugin, RBG 0.8 `podGroupPolicy`, AIBrix 0.7 `schedulingStrategy`.
    """
    path = next((path for path in _GROUPED_BY if lookup(manifest.data, path) is not None), None)
    if path is None or manifest.partial:
        return
    others = frozenset(name for target in TARGETS for name in target.schedulers) - {SCHEDULER}
    for pod_set in sets:
        other = pod_set.scheduler_name if pod_set.scheduler_name in others else ""
        sets_it = manifest.group == "orchestration.aibrix.ai" and not other
        if (not pod_set.scheduler_name or other) and pod_set.scheduler_path is not None:
            placed_by = other or f"{DEFAULT_SCHEDULER} (no schedulerName)"
            yield Violation(
                pod_set.scheduler_path,
                f"{dotted(path[1:])} creates a PodGroup for Volcano, but "
                f"{placed_by} schedules {title(manifest.data, pod_set)}",
                f"set schedulerName: {SCHEDULER} in every template: "
                + ("AIBrix does so since September 2026 only" if sets_it else "the controller does not"),
                # the pods run, each by itself; and the job of a runtime may set it
                Severity.INFO if sets_it else Severity.WARNING,
            )


def _pods(manifest: Manifest, pod_set: PodSet, place: Path, lacks_own: bool) -> Iterator[Violation]:
    annotations = texts(lookup(manifest.data, place))
    if lacks_own and GROUP_MIN_MEMBER in annotations and pod_set.scheduler_name == SCHEDULER:
        yield Violation(
            (*place, GROUP_MIN_MEMBER),
            f"{GROUP_MIN_MEMBER} on the pod template is not read: the gang has 1 member",
            f"set it in the annotations of the {manifest.kind} itself",
            key=True,
        )
    mode, tier = annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_TIER)
    if mode is not None and mode.lower() not in ("hard", "soft") and not is_placeholder(mode):
        yield Violation(
            (*place, TOPOLOGY_MODE),
            f"{TOPOLOGY_MODE} is {mode!r}, neither hard nor soft: Volcano reads it as hard",
            "write hard or soft",
        )
    numa = annotations.get(NUMA_POLICY)
    if numa and numa not in _NUMA_POLICIES and not is_placeholder(numa):
        yield Violation(
            (*place, NUMA_POLICY),
            f"{NUMA_POLICY} is {numa!r}, which is the policy of no node: with plugin numa-aware none takes "
            "the pod",
            f"write one of {', '.join(_NUMA_POLICIES)}",
            Severity.WARNING,
        )
    if tier is not None and not is_placeholder(tier) and not _WHOLE.match(tier):
        yield Violation(
            (*place, TOPOLOGY_TIER),
            f"{TOPOLOGY_TIER} is {tier!r}, not a whole number: Volcano ignores it",
            "write the number of the highest tier that the pods may span, in quotes",
        )


_GROVE = "scheduling.grove.io/volcano-queue"


def check_queue_annotations(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Places that look right for the kind but are not."""
    if manifest.kind == "DynamoGraphDeployment" and manifest.group == "nvidia.com":
        path: Path = ("metadata", "annotations", _GROVE)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                f"{_GROVE} is not read in metadata.annotations of a DynamoGraphDeployment",
                "move it to spec.annotations, or use nvidia.com/volcano-queue instead",
                key=True,
            )
    elif manifest.kind == "TrainJob" and isinstance(lookup(manifest.data, ("spec", "runtimePatches")), list):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "a TrainJob with runtimePatches (Trainer 2.2) has no spec.annotations: the queue is dropped",
                "move it to trainingRuntimeSpec.template.metadata.annotations of a runtime patch",
                key=True,
            )
    elif manifest.kind == "LLMInferenceService" and lookup(manifest.data, ("spec", "worker")):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "with workers, LeaderWorkerSet makes the gangs and does not receive spec.annotations",
                f"annotate its namespace with {QUEUE_NAME}",
                Severity.WARNING,
                key=True,
            )
