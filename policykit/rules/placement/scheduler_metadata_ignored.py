"""A pod carries one scheduler's metadata but names another scheduler.

Labels and annotations for gangs, queues and devices are read only by the scheduler they belong to.
Any other scheduler silently ignores them: the gang starts piece by piece, and the queue is not
charged. A pod whose schedulerName belongs to no scheduler stays pending.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.target import Key, Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Applicability, Severity
from policykit.nearest import nearest, one_edit_apart
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, TARGETS, target_name_of
from policykit.targets.controllers import assigned_scheduler, decides_scheduler, overrides_scheduler

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    quota.scheduling.koordinator.sh/name: team-a
spec:
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = BAD.replace("spec:\n", "spec:\n  schedulerName: koord-scheduler\n")

_LOST = {"gang": "it joins no gang", "queue": "no queue is charged", "device": "it has no effect"}
_LIKENESS = 0.8
"""Required for a suggestion; many schedulers are called something-scheduler."""
_KEYS = frozenset(
    key.key for target in TARGETS if target.schedulers or target.read_group for key in target.keys
)
"""Every label and annotation that only one scheduler reads."""
_OWNERS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"})
"""Built-in kinds whose annotations Volcano reads from the object itself."""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """One violation per scheduler whose metadata is ignored, or one for an unknown schedulerName."""
    manifest, pod_set = review.manifest, review.pod_set
    scheduler, path, cluster = pod_set.scheduler_name, pod_set.scheduler_path, review.cluster
    # A pod with nodeName bypasses the scheduler.
    if path is None or is_placeholder(scheduler) or "{}" in scheduler or pod_set.spec.get("nodeName"):
        return
    if cluster and scheduler and _is_unknown_scheduler(manifest, scheduler, cluster):
        yield Violation(
            path,
            f"schedulerName is {scheduler}, which is not a scheduler of the policy",
            f"write one of {', '.join(sorted(cluster.schedulers))}, or add {scheduler} to the policy's "
            "schedulers if it runs in the cluster",
            fix=partial(_fix, review, _nearest(review, cluster)),
        )
        return
    if cluster is None and (fault := _unlikely(scheduler, str(path[-1]))):
        message, meant = fault
        yield Violation(
            path,
            f"schedulerName is {scheduler}, {message}: the pods stay pending if no such scheduler runs",
            f"did you mean {meant}?",
            Severity.WARNING,
        )
        return
    if cluster and not scheduler:
        scheduler = assigned_scheduler(cluster, pod_set, manifest.namespace or review.namespace)
    target_name = target_name_of(scheduler, cluster)
    unknown = target_name is None or decides_scheduler(manifest, scheduler)
    if unknown or (not scheduler and _is_incomplete(pod_set)) or not _carries_metadata(manifest, pod_set):
        return
    carried = {target.name: _keys_of(target, manifest, pod_set) for target in TARGETS if target.schedulers}
    several = sum(bool(found) for found in carried.values()) > 1
    for target in TARGETS:
        ignored = carried.get(target.name)
        if not ignored or target.name == target_name:
            continue
        covered = _taken_over(target, cluster, manifest.namespace or review.namespace)
        if not covered or scheduler:
            found = _violation(target, ignored, scheduler, cluster, covered)
            meant = "" if several else _scheduler(target, cluster)
            yield found._replace(fix=partial(_fix, review, meant))
    yield from _by_plugin(manifest, pod_set, scheduler)


def _by_plugin(manifest: Manifest, pod_set: PodSet, scheduler: str) -> Iterator[Violation]:
    """Metadata that a plugin reads, which kube-scheduler does not have unless it was built with it."""
    for target in TARGETS if scheduler in ("", DEFAULT_SCHEDULER) else ():
        found = _keys_of(target, manifest, pod_set) if target.read_group and not target.schedulers else []
        if found:
            key, path = found[0]
            yield Violation(
                path,
                f"{key.key} is read by a plugin of {target.title}, which {DEFAULT_SCHEDULER} has only if it "
                "was replaced: else the pods start one by one",
                "write the schedulerName of the scheduler that has the plugin",
                Severity.INFO,
                key=True,
            )


@lru_cache(maxsize=256)
def _unlikely(scheduler: str, field: str) -> tuple[str, str] | None:
    """What is wrong with the name of a scheduler, and what was meant; None: it is one, or like none.

    `field`: the one that names it. Spark's batchScheduler has words of its own, such as kube-scheduler.
    """
    known = sorted({DEFAULT_SCHEDULER, *(name for target in TARGETS for name in target.schedulers)})
    if not scheduler or scheduler in known:
        return None
    for target in TARGETS if field == "schedulerName" else ():
        if scheduler in target.programs:
            meant = min(target.schedulers)
            return f"but {target.title} schedules pods that name {meant}", meant
    plain = _plain(scheduler)
    near = next((name for name in known if _is_near(plain, _plain(name))), "")
    return (f"which is nearly {near}", near) if near else None


def _is_near(written: str, known: str) -> bool:
    """The same, one edit apart, or the same letters in another order."""
    return written == known or one_edit_apart(written, known) or sorted(written) == sorted(known)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _is_incomplete(pod_set: PodSet) -> bool:
    """Whether the template is incomplete (a built-in kind without containers)."""
    return pod_set.strategic and not any(True for _ in containers(pod_set.spec))


def _is_unknown_scheduler(manifest: Manifest, scheduler: str, cluster: Cluster) -> bool:
    if not cluster.schedulers or scheduler in cluster.schedulers:
        return False
    known = target_name_of(scheduler, None) is not None
    # Spark's batchScheduler has its own values, which need not be scheduler names.
    if manifest.group == "sparkoperator.k8s.io":
        return known
    # An operator may overwrite the name of an existing scheduler; it does not explain a misspelt name.
    return not (known and decides_scheduler(manifest, scheduler))


def _taken_over(target: Target, cluster: Cluster | None, namespace: str) -> bool:
    """Whether its admission controller is installed and may set the right schedulerName."""
    if target.overrides_scheduler is None:
        return False
    if cluster is None or not cluster.schedulers:
        return True
    return overrides_scheduler(target, cluster, namespace)


def _carries_metadata(manifest: Manifest, pod_set: PodSet) -> bool:
    """Whether the pods or their owner have any scheduler's key; few objects do."""
    places = (pod_set.labels, pod_set.annotations, manifest.labels, manifest.annotations)
    return not all(_KEYS.isdisjoint(place) for place in places if place)


def _keys_of(target: Target, manifest: Manifest, pod_set: PodSet) -> list[tuple[Key, Path]]:
    return [(key, path) for key in target.keys if (path := _place(key, manifest, pod_set))]


def _place(key: Key, manifest: Manifest, pod_set: PodSet) -> Path:
    """Path of a key on the pod set or its owner; empty if neither has it."""
    if not key.on_owner:
        entries: Mapping[str, str] = pod_set.labels if key.where == "labels" else pod_set.annotations
        return pod_set.place(key.where, key.key) if key.key in entries else ()
    if manifest.kind not in _OWNERS:
        return ()
    entries = manifest.labels if key.where == "labels" else manifest.annotations
    return ("metadata", key.where, key.key) if key.key in entries else ()


def _violation(
    target: Target,
    ignored: list[tuple[Key, Path]],
    scheduler: str,
    cluster: Cluster | None,
    covered: bool,
) -> Violation:
    """`covered`: an admission controller may overwrite schedulerName."""
    key, path = ignored[0]
    is_its = f" and {len(ignored) - 1} more are" if len(ignored) > 1 else " is"
    placed_by = scheduler or f"{DEFAULT_SCHEDULER} (no schedulerName)"
    but = f"but {placed_by} places the pod: {_LOST[key.purpose]}"
    if covered:
        but = f"but schedulerName is {scheduler}: one of them is ignored"
    return Violation(
        path,
        f"{key.key}{is_its} {target.title}'s, {but}",
        _advice(target, key, cluster),
        key=True,
    )


def _advice(target: Target, key: Key, cluster: Cluster | None) -> str:
    wanted = _scheduler(target, cluster)
    if not wanted:
        return f"delete the {key.where[:-1]}: the policy does not include {target.title}"
    return f"write schedulerName: {wanted}, or delete the {key.where[:-1]}"


def _scheduler(target: Target, cluster: Cluster | None) -> str:
    """The schedulerName of the system; empty if the policy does not include it."""
    settings = cluster.targets.get(target.name) if cluster else None
    name = settings.scheduler_name if settings and settings.scheduler_name else min(target.schedulers)
    return "" if cluster and cluster.schedulers and name not in cluster.schedulers else name


def _nearest(review: Review, cluster: Cluster) -> str:
    """The scheduler of the policy with the most similar name, else that of the workload kind.

    Empty for the name of an existing scheduler: it is no mistake, the policy may just lack it.
    """
    name = review.pod_set.scheduler_name
    if target_name_of(name, None) is not None:
        return ""
    near = nearest(name, tuple(sorted(cluster.schedulers)), _LIKENESS)
    return near or (review.workload.scheduler if review.workload else "")


def _fix(review: Review, name: str) -> Fix | None:
    """None if the intended scheduler is unknown, or if the policy assigns the kind another one."""
    from policykit.targets.workloads import field_patches

    wanted = review.workload.scheduler if review.workload else ""
    patches = field_patches.scheduler_patches(review.pod_set, name) if name and wanted in ("", name) else None
    return Fix(f"write schedulerName: {name}", patches) if patches else None


RULE = Rule(
    code="PK122",
    name="scheduler-metadata-ignored",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
    silences=frozenset({"PK121"}),
)
