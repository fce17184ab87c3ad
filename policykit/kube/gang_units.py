"""Gangs of objects: pods that start and stop together, groups, memberships and numbers of pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import Minimum, PodSet, gangs
from policykit.kube.podsets.gangs import holds_text
from policykit.manifests.document import Manifest, texts
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.gang import Membership, PodGroup
from policykit.namedtuple import NamedTuple


class GangUnit(NamedTuple):
    """Pods that start and stop together: a whole object, or one of several groups or instances of it."""

    pods: int
    """Worker pods in one unit."""
    worker: PodSet
    """First pod set of the workers."""


def largest_unit(manifest: Manifest, sets: Sequence[PodSet], workers: Sequence[PodSet]) -> GangUnit | None:
    """The largest unit that contains workers; None: there is none, or a number is unknown.

    `workers` are some of the object's pod sets. For serving roles the units are the instances.
    """
    if any(one.replicas is None for one in sets):
        return None
    units = [
        GangUnit(_pods(theirs) * min(size, every) // every, theirs[0])
        for size, members in _groups(manifest, sets)
        if (theirs := [one for one in workers if one in members]) and (every := _pods(members))
    ]
    return max(units, key=lambda unit: unit.pods, default=None)


def _groups(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[tuple[int, Sequence[PodSet]]]:
    """(pods of one, its pod sets) for each group of equal units; a role of unknown size counts as 0."""
    sizes = instance_sizes(manifest)
    if sizes is not None:
        for role, size in sizes.items():
            yield size or 0, [one for one in sets if one.path[: len(role)] == role]
        return
    found = gangs(manifest.data)
    # The jobs of a JobSet run together, even if they are separate gangs.
    if manifest.kind == "JobSet" or not found or any(gang.pods is None for gang in found):
        yield _pods(sets), sets
        return
    for gang in found:
        yield gang.pods or 0, [one for one in sets if one.name in gang.members]


def _pods(sets: Sequence[PodSet]) -> int:
    return sum(one.replicas or 0 for one in sets)


_ROLES: Mapping[tuple[str, str], Path] = {
    ("orchestration.aibrix.ai", "RoleSet"): ("spec", "roles"),
    ("orchestration.aibrix.ai", "StormService"): ("spec", "template", "spec", "roles"),
    ("workloads.x-k8s.io", "RoleBasedGroup"): ("spec", "roles"),
}
"""(API group, kind) to the list of its roles."""


def instance_sizes(manifest: Manifest) -> dict[Path, int | None] | None:
    """Pods of one instance of each role, by the role's path; None: unknown size.

    None for a kind without such roles. Sources: AIBrix 0.6 `podGroupSize`, RoleBasedGroup 0.7 `size`
    of its patterns (v1alpha2) and of `leaderWorkerSet` and `components` (v1alpha1).
    """
    place = _ROLES.get((manifest.group, manifest.kind))
    if place is None:
        return None
    roles = lookup(manifest.data, place)
    listed = enumerate(roles if isinstance(roles, list) else ())
    return {(*place, number): _size(role) for number, role in listed if isinstance(role, dict)}


def _size(role: Mapping[str, Any]) -> int | None:
    parts = [*mappings(mapping(role.get("customComponentsPattern")).get("components"))]
    parts = parts or [*mappings(role.get("components"))]
    if parts:
        sizes = [whole(part.get("size", 1)) for part in parts]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    for field in ("leaderWorkerPattern", "leaderWorkerSet"):
        if role.get(field) is not None:
            return whole(mapping(role[field]).get("size", 1))
    return whole(role.get("podGroupSize", 1))


JOB_SPECS: Mapping[tuple[str, str], Path] = {
    ("batch", "Job"): ("spec",),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec"),
}
"""(API group, kind) to the path of its JobSpec."""

_SERVERS = frozenset({"ps", "server", "scheduler"})
"""Names of parameter-server tasks and replica types, in lower case."""


def all_at_once(manifest: Manifest) -> bool:
    """Whether each pod of a Job has an index and all run at the same time.

    Such pods usually talk to each other; pods of any other Job are independent.
    """
    place = JOB_SPECS.get((manifest.group, manifest.kind))
    job = lookup(manifest.data, place) if place else None
    if not isinstance(job, dict) or job.get("completionMode") != "Indexed":
        return False
    parallelism = job.get("parallelism")
    return isinstance(parallelism, int) and parallelism > 1 and parallelism == job.get("completions")


def goes_on_with_fewer(manifest: Manifest) -> bool:
    """An elastic job, one cut into partitions, one with parameter servers, or servers of one pod each.

    Its pods do not all wait for each other. Nor do those of a JobSet whose jobs have more completions
    than pods at a time: they take the items of a list in turn.
    """
    spec = manifest.data.get("spec")
    if not isinstance(spec, dict):
        return False
    if spec.get("elasticPolicy") is not None or any(_is_server(name) for name in _replica_types(spec)):
        return True
    sizes = instance_sizes(manifest)
    if sizes is not None and not any(size and size > 1 for size in sizes.values()):
        return True
    if manifest.kind == "JobSet" and _in_turn(mappings(spec.get("replicatedJobs"))):
        return True
    tasks = spec.get("tasks")
    return isinstance(tasks, list) and any(
        isinstance(task, dict) and ("partitionPolicy" in task or _is_server(task.get("name")))
        for task in tasks
    )


def _in_turn(jobs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one job of a JobSet starts pods after others, and no other job has more than one pod."""
    shapes = [_shape(job) for job in jobs]
    if not any(pods < completions for _, pods, completions in shapes):
        return False
    return all(pods < completions or replicas == pods == 1 for replicas, pods, completions in shapes)


def _shape(job: Mapping[str, Any]) -> tuple[int, int, int]:
    """(replicas, pods at a time, completions) of a replicated job; completions default to the pods."""
    spec = mapping(mapping(job.get("template")).get("spec"))
    replicas, pods = (
        value if isinstance(value, int) else 1 for value in (job.get("replicas"), spec.get("parallelism"))
    )
    completions = spec.get("completions")
    return replicas, pods, completions if isinstance(completions, int) else pods


def _replica_types(spec: Mapping[str, Any]) -> Iterator[str]:
    """Worker, PS, ...: keys of Kubeflow's tfReplicaSpecs and similar fields."""
    for field, value in spec.items():
        if isinstance(field, str) and field.endswith("ReplicaSpecs") and isinstance(value, dict):
            yield from (name for name in value if isinstance(name, str))


def _is_server(name: object) -> bool:
    return isinstance(name, str) and name.lower() in _SERVERS


_REPLICATED_JOBS: Path = ("spec", "replicatedJobs")
_JOB_SET = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_OF_GROUPS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("leaderworkerset.sigs.k8s.io/exclusive-topology",),
    ("workloads.x-k8s.io", "RoleBasedGroup"): (
        "rbg.workloads.x-k8s.io/group-exclusive-topology",
        "rbg.workloads.x-k8s.io/exclusive-topology",
    ),
}


def exclusive_topologies(manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Path and value of each annotation that gives the pods of an object a domain of their own."""
    annotations = texts(manifest.metadata.get("annotations"))
    of_sets = (manifest.group, manifest.kind) == ("jobset.x-k8s.io", "JobSet")
    for key in (_JOB_SET,) if of_sets else _OF_GROUPS.get((manifest.group, manifest.kind), ()):
        if annotations.get(key):
            yield ("metadata", "annotations", key), annotations[key]
    for at, job in enumerate(mappings(lookup(manifest.data, _REPLICATED_JOBS))) if of_sets else ():
        there = texts(mapping(mapping(job.get("template")).get("metadata")).get("annotations"))
        if there.get(_JOB_SET):
            path: Path = (*_REPLICATED_JOBS, at, "template", "metadata", "annotations", _JOB_SET)
            yield path, there[_JOB_SET]


def has_own_domain(manifest: Manifest) -> bool:
    """Whether pods that wait for each other have a domain without other such pods.

    The first pod takes the domain and the others follow it, so no two groups share a domain.
    A JobSet gives each of its jobs a domain: that is enough only if there is one job.
    Sources: JobSet 0.13, LeaderWorkerSet 0.10, RoleBasedGroup 0.7.
    """
    keys = _OF_GROUPS.get((manifest.group, manifest.kind), ())
    if (manifest.group, manifest.kind) != ("jobset.x-k8s.io", "JobSet"):
        return any(manifest.annotations.get(key) for key in keys)
    jobs = mappings(lookup(manifest.data, _REPLICATED_JOBS))
    if len(jobs) != 1 or jobs[0].get("replicas", 1) != 1:
        return False
    template = texts(mapping(mapping(jobs[0].get("template")).get("metadata")).get("annotations"))
    return bool(manifest.annotations.get(_JOB_SET) or template.get(_JOB_SET))


class MinimumScope(NamedTuple):
    """The part of an object that a minimum counts, in one instance of the object."""

    name: str
    """`task worker`."""
    available: int | None
    """Pods or replicas of it; None: unknown."""
    unit: str = "pod"
    """pod, or replica if the minimum counts instances of several pods."""


def minimum_scope(manifest: Manifest, minimum: Minimum, pod_sets: Sequence[PodSet]) -> MinimumScope:
    """The part that a minimum counts."""
    if manifest.kind == "ModelServing":
        return _role_by_name(manifest, str(minimum.path[-1]))
    around = minimum.path[:-1]
    written = lookup(manifest.data, (*around, "replicas"))
    if minimum.part in ("clique", "group"):
        return _of_grove(manifest, minimum, 1 if written is None else whole(written))
    if sizes := instance_sizes(manifest):
        role = next((role for role in sizes if role == around[: len(role)]), ())
        size = sizes[role] if role else None
        # AIBrix makes no gang of roles whose instances are single pods.
        return MinimumScope(_named(manifest, "role", role), size if size and size > 1 else None)
    what = _named(manifest, minimum.part, around)
    if written is not None:
        return MinimumScope(what, whole(written))
    made = next((one for one in pod_sets if around and one.path[: len(around)] == around), None)
    return MinimumScope(what, made.replicas if made else None)


def _role_by_name(manifest: Manifest, name: str) -> MinimumScope:
    """A role of kthena, whose webhook refuses a minimum above the role's replicas (1.0)."""
    roles = mappings(lookup(manifest.data, ("spec", "template", "roles")))
    for role in roles:
        if role.get("name") == name:
            return MinimumScope(f"role {name}", whole(role.get("replicas", 1)), "replica")
    filled = any(not text(role.get("name")) or is_placeholder(role.get("name")) for role in roles)
    known = not filled and not is_placeholder(name)
    return MinimumScope(f"role {name}, which is not among the roles,", 0 if known else None, "replica")


def _of_grove(manifest: Manifest, minimum: Minimum, replicas: int | None) -> MinimumScope:
    """A clique or scaling group of Grove. Missing replicas count as 1, and so do 0 replicas of a clique."""
    around = minimum.path[:-1]
    if minimum.part == "group":
        return MinimumScope(_named(manifest, "group", around), replicas, "replica")
    nearest = around[:-1] if around[-1:] == ("spec",) else around
    return MinimumScope(_named(manifest, "clique", nearest), 1 if replicas == 0 else replicas)


def _named(manifest: Manifest, noun: str, place: Path) -> str:
    name = text(lookup(manifest.data, (*place, "name")))
    return f"{noun} {name}" if name else f"this {noun}"


class MembershipFact(NamedTuple):
    """A membership, with the paths of its fields in the manifest."""

    membership: Membership
    group: Path
    min_member: Path = ()


def group_of(
    manifest: Manifest, namespace: str, target_name: str, api_groups: frozenset[str]
) -> PodGroup | None:
    """A PodGroup object of one of these API groups; all keep the minimum in spec.minMember."""
    if manifest.kind != "PodGroup" or manifest.group not in api_groups or manifest.partial:
        return None
    spec = manifest.data.get("spec")
    minimum = spec.get("minMember") if isinstance(spec, dict) else None
    if isinstance(minimum, bool) or not isinstance(minimum, int):
        minimum = None
    owned = bool(manifest.metadata.get("ownerReferences"))
    return PodGroup(target_name, manifest.namespace or namespace, manifest.name, minimum, owned)


def named_group(
    manifest: Manifest, pod_set: PodSet, namespace: str, target_name: str, where: str, key: str
) -> MembershipFact | None:
    """The group that a label or annotation (`where`) of the pods names, in the pods' namespace."""
    group = (pod_set.labels if where == "labels" else pod_set.annotations).get(key)
    if not group:
        return None
    pods = pods_of(manifest, pod_set)
    in_namespace = manifest.namespace or namespace
    membership = Membership(target_name, in_namespace, group, pods, pod_set.scheduler_name)
    return MembershipFact(membership, pod_set.place(where, key))


def pods_of(manifest: Manifest, pod_set: PodSet) -> int | None:
    """Number of pods a pod set has at a time; None: it is not fixed.

    It is not fixed for kinds that recur, whose runs may overlap, and objects with generateName.
    """
    recurring = "Cron" in manifest.kind or manifest.kind.startswith("Scheduled")
    if manifest.partial or not manifest.name or pod_set.stored or pod_set.per_node or recurring:
        return None
    return pod_set.replicas


def size_patch(path: Path, size: int) -> Patch:
    """The patch that sets the size of a gang."""
    return Patch("add", path, str(size) if holds_text(path) else size)
