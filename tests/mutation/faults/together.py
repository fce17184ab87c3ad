"""Faults of starting together: gangs that are too small, too large, or not there at all."""

from collections.abc import Iterator
from typing import Any

from policykit.kube.podsets.gangs import Gang, gangs
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from tests.mutation.clean import Subject
from tests.mutation.fault import Change, Inject, fault, put, replace
from tests.mutation.places import at, judged, limits

_LED = ("MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "Job")
"""Kinds with a pod that leads the workers: a launcher, a master."""


def _volcano_job(subject: Subject) -> bool:
    return subject.manifest.kind == "Job" and subject.manifest.group == "batch.volcano.sh"


def _written(subject: Subject) -> Iterator[tuple[Gang, Any]]:
    """Gangs of training pods that wait for each other, of exactly their pods, with what is written."""
    synchronous = any(one.synchronous and one.purpose == "training" for one in subject.pod_sets)
    for gang in gangs(subject.manifest.data) if synchronous else ():
        value = at(subject, gang.path)
        whole = gang.written and gang.enabled and not gang.minima and gang.pods == gang.min_member
        if whole and (gang.min_member or 0) > 1 and value is not None:
            yield gang, value


def _asking(subject: Subject) -> set[str]:
    """Names of pod sets whose containers ask for cards."""
    paths = [path for path, _, _ in limits(subject)]
    return {
        one.name
        for one in subject.pod_sets
        if any(path[: len(one.place("containers"))] == one.place("containers") for path in paths)
    }


def _like(value: Any, number: int) -> Any:
    """A number as it was written: annotations have text."""
    return str(number) if isinstance(value, str) else number


def _smaller(subject: Subject) -> Iterator[Change]:
    for gang, value in _written(subject):
        if set(gang.members) <= _asking(subject):
            yield replace(gang.path, _like(value, (gang.min_member or 2) - 1))


def _more_replicas(subject: Subject) -> Iterator[Change]:
    """The job grew, and the gang did not."""
    tasks = at(subject, ("spec", "tasks")) if _volcano_job(subject) else None
    for gang, _ in _written(subject):
        for index, task in enumerate(tasks if isinstance(tasks, list) else ()):
            if set(gang.members) <= _asking(subject) and type(task.get("replicas", 1)) is int:
                yield put(("spec", "tasks", index, "replicas"), task.get("replicas", 1) + 2)


def _only_workers(subject: Subject) -> Iterator[Change]:
    """The pod that leads the others is left out of the count."""
    asking = _asking(subject)
    for gang in gangs(subject.manifest.data) if subject.manifest.kind in _LED else ():
        members = [one for one in subject.pod_sets if one.name in gang.members]
        leading = [one for one in members if one.name not in asking]
        workers = sum(one.replicas or 0 for one in members if one.name in asking)
        if len(leading) == 1 and leading[0].replicas == 1 and workers and gang.path and not gang.minima:
            yield put(gang.path, _like(at(subject, gang.path), workers))


def _no_gang(subject: Subject) -> Iterator[Change]:
    """Pods that talk to each other by their index, each placed by itself."""
    spec = at(subject, ("spec",))
    job = subject.manifest.kind == "Job" and subject.manifest.group == "batch"
    if job and isinstance(spec, dict) and list(limits(subject)) and not spec.get("suspend"):
        plain = not any(word in subject.text for word in ("kueue", "group", "gang"))
        shape = {"completionMode": "Indexed", "completions": 4, "parallelism": 4}
        if plain and not any(field in spec for field in ("managedBy", "schedulingGates")):
            yield Change(tuple(Patch("add", ("spec", key), value) for key, value in shape.items()))


def _grown(members: int) -> Inject:
    """A gang of so many, each of which asks for cards."""

    def inject(subject: Subject) -> Iterator[Change]:
        tasks = at(subject, ("spec", "tasks")) if _volcano_job(subject) else None
        if isinstance(tasks, list) and len(tasks) == 1 and any(judged(subject)) and list(limits(subject)):
            sized: list[tuple[Path, int]] = [
                (("spec", "minAvailable"), members),
                (("spec", "tasks", 0, "replicas"), members),
            ]
            if "minAvailable" in tasks[0]:
                sized.append((("spec", "tasks", 0, "minAvailable"), members))
            yield Change(tuple(Patch("add", path, value) for path, value in sized))

    return inject


def _above_queue(subject: Subject) -> Iterator[Change]:
    """A queue that never has a card for the jobs that name it."""
    manifest = subject.manifest
    queue = manifest.kind == "Queue" and manifest.group == "scheduling.volcano.sh"
    most = at(subject, ("spec", "capability", "nvidia.com/gpu"))
    if queue and most is not None and f"queue: {manifest.name}\n" in subject.text and "Job" in subject.others:
        yield replace(("spec", "capability", "nvidia.com/gpu"), 1)


def _in_turn(subject: Subject) -> Iterator[Change]:
    """A task that waits for another one, in a gang that waits for both."""
    tasks = at(subject, ("spec", "tasks")) if _volcano_job(subject) else None
    listed = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    pods = [task.get("replicas", 1) for task in listed]
    named = [task.get("name") for task in listed]
    made = all(type(n) is int and n > 0 for n in pods) and all(task.get("template") for task in listed)
    if len(listed) == 2 and made and all(named) and "dependsOn" not in subject.text:
        whole = Patch("add", ("spec", "minAvailable"), sum(pods))
        yield Change((whole, Patch("add", ("spec", "tasks", 1, "dependsOn"), {"name": [named[0]]})))


FAULTS = (
    fault("a gang smaller than its workers", "PK302", _smaller),
    fault("more workers than their gang", "PK302", _more_replicas),
    fault("a gang without the pod that leads it", "PK307 PK302", _only_workers),
    fault("an Indexed Job without a gang", "PK303", _no_gang),
    fault("a gang that waits for a task that waits for it", "PK308", _in_turn),
    fault("a gang above all pools", "PK304", _grown(5000)),
    fault("a gang above its queue", "PK305", _above_queue, elsewhere=True),
)
