"""Pods that must start together have no gang.

The pods of a synchronous job wait for each other at start. A scheduler that places them one by one
may give cards to half of them and have none left for the rest, while another job does the same:
both hold what they have and neither runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from policykit.kube.gang_units import (
    all_at_once,
    goes_on_with_fewer,
    has_own_domain,
    largest_unit,
    size_patch,
)
from policykit.kube.podsets import Gang, PodSet, gangs, pod_sets
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.target import Target
from policykit.manifests.document import Manifest, texts, words
from policykit.manifests.path import Path, dotted, lookup
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
_SYSTEMS = "a scheduler with gangs (Volcano, Koordinator, YuniKorn, or Kueue in front)"
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


def _gang_keys(where: str, *, on_owner: bool) -> frozenset[str]:
    """Labels or annotations by which a system makes a gang."""
    return frozenset(
        key.key
        for target in TARGETS
        for key in target.keys
        if key.where == where and key.on_owner is on_owner and (key.purpose == "gang" or target.groups_pods)
    )


_ON_PODS = {where: _gang_keys(where, on_owner=False) for where in ("labels", "annotations")}
_ON_OWNERS = {where: _gang_keys(where, on_owner=True) for where in ("labels", "annotations")}


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
            _advice(manifest, workers, unit.pods, context),
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
    if any(_is_declared(gang) for gang in gangs(manifest.data)):
        return True
    if any(lookup(one.spec, path) is not None for one in sets for path in _NATIVE):
        return True
    if any(not _RESERVED.isdisjoint(one.annotations) for one in sets):
        return True
    return _has_gang_key(manifest, sets)


def _is_declared(gang: Gang) -> bool:
    return gang.written or (gang.enabled_by is not None and gang.enabled)


def _has_gang_key(manifest: Manifest, sets: Sequence[PodSet]) -> bool:
    """A gang key of a system on a template, or on an owner where it is read."""
    if any(not _ON_PODS["labels"].isdisjoint(one.labels) for one in sets):
        return True
    if any(not _ON_PODS["annotations"].isdisjoint(one.annotations) for one in sets):
        return True
    return any(
        not keys.isdisjoint(texts(lookup(manifest.data, (*owner, where))))
        for where, keys in _ON_OWNERS.items()
        for owner in _OWNERS
    )


def _advice(manifest: Manifest, workers: Sequence[PodSet], pods: int, context: Context) -> str:
    """What to run the pods under, if their scheduler has no gangs, and where the gang is declared."""
    theirs = {target_name_of(one.scheduler_name, context.cluster) for one in workers}
    usable = [one for one in TARGETS if one.supports_gangs and one.name in theirs]
    declare = "declare a gang"
    if len(usable) < len(theirs):
        installed = context.cluster.targets if context.cluster else {}
        usable = [one for one in TARGETS if one.supports_gangs and one.name in installed]
        choice = " or ".join(one.title for one in usable) or _SYSTEMS
        declare = f"run them under {choice} and declare a gang"
    gang = next(iter(gangs(manifest.data)), None)
    if gang is None or not (gang.path or gang.enabled_by):
        return f"{declare} of {pods}"
    place = gang.path or gang.enabled_by or ()
    place_text = f" in {dotted(place)}" if _is_read_by(usable, place) else ""
    if not gang.path:
        return declare + place_text
    each = f" for each {gang.unit}" if gang.pods and gang.pods < pods else ""
    uncounted = ", the pods without cards among them," if gang.pods and gang.pods > pods else ""
    return f"{declare} of {gang.pods or pods}{each}{uncounted}{place_text}".removesuffix(",")


def _is_read_by(usable: Sequence[Target], place: Path) -> bool:
    """Whether one of the systems reads the place: any, unless it is the key of a label or annotation."""
    owners = [one for one in TARGETS if any(key.key == place[-1] for key in one.keys)]
    return not owners or any(one in usable for one in owners)


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
