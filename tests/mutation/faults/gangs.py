"""Faults of gangs: more members than pods, names that lead nowhere, two schedulers."""

import json
from collections.abc import Iterator
from typing import Any

from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, injected, misspelt, put, rename, replace
from tests.mutation.places import at, has_schema, is_extract, named

_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io"
_GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
_TASK_GROUPS = "yunikorn.apache.org/task-groups"


def _volcano_job(subject: Subject) -> bool:
    return subject.manifest.kind == "Job" and subject.manifest.group == "batch.volcano.sh"


def _tasks(subject: Subject) -> list[dict[str, Any]]:
    tasks = at(subject, ("spec", "tasks")) if _volcano_job(subject) else None
    whole = isinstance(tasks, list) and all(isinstance(task, dict) and task.get("template") for task in tasks)
    return list(tasks) if whole and isinstance(tasks, list) else []


def _as_label(subject: Subject) -> Iterator[Change]:
    """An annotation of a gang, moved to the labels."""
    keys = (_GROUP_ANNOTATION, "gang.scheduling.koordinator.sh/name", "yunikorn.apache.org/task-group-name")
    for path, value in named(subject.manifest.data, *keys):
        if path[-2:-1] == ("annotations",) and isinstance(value, str):
            yield Change((Patch("move", (), Move(path, (*path[:-2], "labels", path[-1]))),))


def _above(subject: Subject) -> Iterator[Change]:
    counts = [task.get("replicas", 1) for task in _tasks(subject)]
    if counts and all(type(each) is int for each in counts):
        yield put(("spec", "minAvailable"), sum(counts) + 1)


def _task_above(subject: Subject) -> Iterator[Change]:
    for index, task in enumerate(_tasks(subject)):
        if type(task.get("replicas", 1)) is int:
            yield put(("spec", "tasks", index, "minAvailable"), task.get("replicas", 1) + 1)


def _members(subject: Subject) -> Iterator[Path]:
    """minMember of groups whose members stand in the same file."""
    stated = type(at(subject, ("spec", "minMember"))) is int
    if subject.manifest.kind == "PodGroup" and len(subject.others) > 1 and stated:
        yield ("spec", "minMember")


def _group_above(subject: Subject) -> Iterator[Change]:
    yield from (replace(path, 1000) for path in _members(subject))


def _group_renamed(subject: Subject) -> Iterator[Change]:
    for _ in _members(subject):
        yield replace(("metadata", "name"), misspelt(subject.manifest.name))


def _joined(subject: Subject) -> Iterator[tuple[Path, str]]:
    for path, value in named(subject.manifest.data, _GROUP_LABEL, _GROUP_ANNOTATION):
        if "PodGroup" in subject.others and isinstance(value, str):
            yield path, value


def _name_misspelt(subject: Subject) -> Iterator[Change]:
    yield from (replace(path, misspelt(value)) for path, value in _joined(subject))


def _annotation(key: str, value: Any) -> Inject:
    def inject(subject: Subject) -> Iterator[Change]:
        for path, _ in named(subject.manifest.data, key):
            if "annotations" in path:
                yield replace(path, value)

    return inject


def _groups(subject: Subject) -> Iterator[tuple[Path, list[Any]]]:
    for path, value in named(subject.manifest.data, _TASK_GROUPS):
        try:
            groups = json.loads(value) if isinstance(value, str) else None
        except ValueError:
            continue
        if isinstance(groups, list) and groups and isinstance(groups[0], dict):
            yield path, groups


def _json_cut(subject: Subject) -> Iterator[Change]:
    for path, groups in _groups(subject):
        yield replace(path, json.dumps(groups)[:-1])


def _group_with(**changed: Any) -> Inject:
    """The first task group with fields changed; None takes one away."""

    def inject(subject: Subject) -> Iterator[Change]:
        for path, groups in _groups(subject):
            first = {**groups[0], **changed}
            kept = {key: value for key, value in first.items() if value is not None}
            yield replace(path, json.dumps([kept, *groups[1:]]))

    return inject


def _group_name(subject: Subject) -> Iterator[Change]:
    for path, value in named(subject.manifest.data, "yunikorn.apache.org/task-group-name"):
        if isinstance(value, str):
            yield replace(path, misspelt(value))


def _mixed(subject: Subject) -> Iterator[Change]:
    """One task under another scheduler than the rest of its gang."""
    tasks = _tasks(subject)
    members = sum(task.get("replicas", 1) for task in tasks)
    together = at(subject, ("spec", "minAvailable")) in (None, members)
    for index in range(len(tasks) if len(tasks) > 1 and together else 0):
        yield put(("spec", "tasks", index, "template", "spec", "schedulerName"), "default-scheduler")


def _no_completions(subject: Subject) -> Iterator[Change]:
    if _volcano_job(subject) and at(subject, ("spec", "minAvailable")) is not None:
        yield replace(("spec", "minAvailable"), -1)


def _key_misspelt(subject: Subject) -> Iterator[Change]:
    """A hyphen left out of a key that only a scheduler reads."""
    for key in (_TASK_GROUPS, "gang.scheduling.koordinator.sh/min-available", _GROUP_ANNOTATION):
        for path, _ in named(subject.manifest.data, key):
            if path[-2:-1] == ("annotations",):
                yield rename(path, key.replace("-", ""))


def _key_cut(subject: Subject) -> Iterator[Change]:
    """The queue of Kueue by a shorter key."""
    for path, _ in named(subject.manifest.data, "kueue.x-k8s.io/queue-name"):
        if path[-2:-1] == ("labels",):
            yield rename(path, "kueue.x-k8s.io/queue")


def _scheduler_misspelt(subject: Subject) -> Iterator[Change]:
    for one in subject.pod_sets:
        if one.scheduler_name in ("volcano", "koord-scheduler", "yunikorn") and one.scheduler_path:
            yield replace(one.scheduler_path, misspelt(one.scheduler_name))


_TOO_MANY = "PK301 PK510"


def _slow_rollout(subject: Subject) -> Iterator[Change]:
    """A gang of all pods of a Deployment that Volcano places, and one new pod at a time."""
    if subject.manifest.kind != "Deployment" or len(subject.pod_sets) != 1:
        return
    replicas = at(subject, ("spec", "replicas"))
    if subject.pod_sets[0].scheduler_name == "volcano" and type(replicas) is int and replicas > 1:
        key = "scheduling.volcano.sh/group-min-member"
        step = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        gang = Patch("add", ("metadata", "annotations", key), str(replicas))
        yield Change((gang, Patch("add", ("spec", "strategy"), step)))


def _operator_without_groups(subject: Subject) -> Iterator[Change]:
    """A cluster of Ray that is to start as one, beside a KubeRay that makes no groups."""
    key = "ray.io/gang-scheduling-enabled"
    kinds = ("RayCluster", "RayJob", "RayService")
    if subject.manifest.kind in kinds and has_schema(subject) and not is_extract(subject):
        head = "apiVersion: v1\nkind: Pod\nmetadata: {name: kuberay-operator, namespace: ray}\nspec:\n"
        container = '{name: operator, image: "quay.io/kuberay/operator:v1.4.0", args: [--enable-metrics]}'
        if text := injected(subject, put(("metadata", "labels", key), "true")):
            yield Change(text=f"{text.rstrip()}\n---\n{head}  containers:\n  - {container}\n")


FAULTS = (
    fault("a group of which the operator knows nothing", "PK314", _operator_without_groups, elsewhere=True),
    fault("a rollout slower than its gang", "PK312", _slow_rollout),
    fault("a gang above its pods", _TOO_MANY, _above),
    fault("a task's gang above its pods", _TOO_MANY, _task_above),
    fault("a negative gang", "PK510 PK004", _no_completions),
    fault("a PodGroup above its pods", "PK301", _group_above, elsewhere=True),
    fault("a PodGroup by another name", "PK306", _group_renamed, elsewhere=True),
    fault("a misspelt name of a PodGroup", "PK306", _name_misspelt, elsewhere=True),
    fault(
        "an unquoted gang size", "PK004 PK310", _annotation("gang.scheduling.koordinator.sh/min-available", 2)
    ),
    fault(
        "a gang size that is a word",
        "PK310",
        _annotation("gang.scheduling.koordinator.sh/min-available", "two"),
    ),
    fault("task groups that are not JSON", "PK310", _json_cut),
    fault("a task group without name", "PK310", _group_with(name=None)),
    fault("a task group with a word for minMember", "PK310", _group_with(minMember="two")),
    fault("a task group above its pods", "PK301 PK310 PK708", _group_with(minMember=1000)),
    fault("a task group that takes no pods", "PK310", _group_with(minMember=0)),
    fault("a misspelt name of a task group", "PK310 PK306", _group_name, elsewhere=True),
    fault("a key without its hyphens", "PK310", _key_misspelt),
    fault("an annotation among the labels", "PK310", _as_label),
    fault("a key without its end", "PK310", _key_cut),
    fault("a misspelt name of a scheduler", "PK122 PK121 PK311", _scheduler_misspelt),
    fault("two schedulers in a gang", "PK311 PK121 PK122", _mixed),
)
