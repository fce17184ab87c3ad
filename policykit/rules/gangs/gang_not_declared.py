"""Pods that must start together have no gang.

The pods of a synchronous job wait for each other at start. A scheduler that places them one by one
may give cards to half of them and have none left for the rest, while another job does the same:
both hold what they have and neither runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from policykit.kube.gang_units import all_at_once, goes_on_with_fewer, has_own_domain, largest_unit
from policykit.kube.podsets import Gang, PodSet, gangs, pod_sets
from policykit.linter.gangs import size_patch
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.target import Target
from policykit.manifests.document import Manifest, texts, words
from policykit.manifests.path import dotted, lookup
from policykit.model.severity import Applicability, Severity
from policykit.placement.card_requests import card_resources
from policykit.placement.owner import is_gated_or_suspended, owner
from policykit.targets import TARGETS, target_name_of, target_of

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template:
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          limits:
            nvidia.com/gpu: 8
"""

GOOD = BAD.replace(
    "  name: train\n", '  name: train\n  annotations:\n    scheduling.volcano.sh/group-min-member: "4"\n'
)

_KINDS = frozenset(
    {
        "CronJob",
        "DisaggregatedSet",
        "JAXJob",
        "Job",
        "JobSet",
        "LeaderWorkerSet",
        "MPIJob",
        "MXJob",
        "PaddleJob",
        "PyTorchJob",
        "RoleBasedGroup",
        "RoleSet",
        "StormService",
        "TFJob",
        "XGBoostJob",
    }
)
"""Kinds whose gang no controller makes or rules out invisibly."""

_ONE_BY_ONE = frozenset({"batch", "jobset.x-k8s.io"})
"""API groups whose controllers make no group: under any scheduler each pod is on its own."""
_NATIVE = (("schedulingGroup",), ("workloadRef",))
"""PodSpec fields that join a group of Kubernetes itself (1.35 and later)."""
_POLICIES = (("spec", "runPolicy", "schedulingPolicy"), ("spec", "scheduling"))
"""Where jobs of Kubeflow and of Kubernetes 1.37 ask for a gang."""
_OF_INSTANCES = frozenset({"rbg.workloads.x-k8s.io/role-instance-gang-scheduling", "schedulingStrategy"})
"""What makes a gang of each instance of a role: an annotation of RoleBasedGroup, a field of AIBrix."""
_RESERVED = frozenset(
    {
        "autoscaling.x-k8s.io/consume-provisioning-request",
        "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
    }
)
"""Annotations of pods whose nodes the Cluster Autoscaler makes all at once, or none of them."""
_OWNERS = (("metadata",), ("spec", "jobTemplate", "metadata"))


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """One violation per object, at the template of its first pod set that requests cards."""
    sets = [one for one in pod_sets(manifest.data) if not one.stored]
    synchronous = all_at_once(manifest) or any(one.synchronous for one in sets)
    if manifest.partial or not synchronous or goes_on_with_fewer(manifest):
        return
    if _declared(manifest, sets) or not _placed_one_by_one(manifest, sets, context):
        return
    if has_own_domain(manifest) or any(is_gated_or_suspended(owner(manifest, one), one) for one in sets):
        return
    workers = [one for one in sets if card_resources(one, context.cluster)]
    unit = largest_unit(manifest, sets, workers)
    if unit is not None and unit.pods > 1:
        yield Violation(
            unit.worker.path,
            f"{unit.pods} pods with cards wait for each other, but nothing makes them start together",
            _advice(manifest, unit.pods),
            fix=partial(_fix, manifest, workers, context),
        )


def _placed_one_by_one(manifest: Manifest, sets: Sequence[PodSet], context: Context) -> bool:
    """Every pod is placed by a scheduler that makes no group for it by itself."""
    for one in sets:
        target = target_of(target_name_of(one.scheduler_name, context.cluster))
        own_default = manifest.group == "batch.volcano.sh" and not one.scheduler_name
        if target is None or own_default or target.groups_pods:
            return False
        if target.supports_gangs and manifest.group not in _ONE_BY_ONE:
            return False
    return True


def _declared(manifest: Manifest, sets: Sequence[PodSet]) -> bool:
    """Anything that requests a gang, or leaves the start to something that makes one."""
    if any(lookup(manifest.data, path) is not None for path in _POLICIES):
        return True
    if not _OF_INSTANCES.isdisjoint(words(manifest.data).keys):
        return True
    if any(_asks(gang) for gang in gangs(manifest.data)):
        return True
    if any(lookup(one.spec, path) is not None for one in sets for path in _NATIVE):
        return True
    if any(not _RESERVED.isdisjoint(one.annotations) for one in sets):
        return True
    return any(_has_gang_key(target, manifest, sets) for target in TARGETS)


def _asks(gang: Gang) -> bool:
    return gang.written or (gang.enabled_by is not None and gang.enabled)


def _has_gang_key(target: Target, manifest: Manifest, sets: Sequence[PodSet]) -> bool:
    """A gang key of the system on a template, or on an owner where it is read."""
    for key in target.keys:
        if key.purpose == "gang" or target.groups_pods:
            if key.on_owner:
                entries = [texts(lookup(manifest.data, (*owner, key.where))) for owner in _OWNERS]
            else:
                entries = [dict(one.labels if key.where == "labels" else one.annotations) for one in sets]
            if any(key.key in found for found in entries):
                return True
    return False


def _advice(manifest: Manifest, pods: int) -> str:
    gang = next(iter(gangs(manifest.data)), None)
    size, place = f" of {pods}", ""
    if gang and gang.path:
        each = f" for each {gang.unit}" if gang.pods and gang.pods < pods else ""
        size, place = f" of {gang.pods or pods}{each}", f" in {dotted(gang.path)}"
    elif gang and gang.enabled_by:
        size, place = "", f" in {dotted(gang.enabled_by)}"
    return (
        "run them under a scheduler with gangs (Volcano, Koordinator, YuniKorn, or Kueue in front) "
        f"and declare a gang{size}{place}"
    )


def _fix(manifest: Manifest, workers: Sequence[PodSet], context: Context) -> Fix | None:
    """The size of each gang that the kind has for the scheduler of its pods, which is 1 unless set.

    None where that scheduler would need a further object or other metadata.
    """
    targets = {target_name_of(one.scheduler_name, context.cluster) for one in workers}
    target = target_of(targets.pop()) if len(targets) == 1 else None
    keys = {key.key for key in target.keys if key.purpose == "gang"} if target else set[str]()
    names = {one.name for one in workers}
    units = [gang for gang in gangs(manifest.data) if names & {*gang.members}]
    if not units or not all(gang.pods and gang.path and gang.path[-1] in keys for gang in units):
        return None
    patches = tuple(size_patch(gang.path, gang.pods or 1) for gang in units)
    return Fix("declare the gang", patches)


RULE = Rule(
    code="PK303",
    name="gang-not-declared",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    kinds=_KINDS,
    fix=Applicability.UNSAFE,
)
