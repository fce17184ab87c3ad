"""Sizes and topologies of the gangs that KAI-Scheduler makes itself, and whether they yield to others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.durations import is_signed_duration
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import digits, mapping, numbered, text, whole
from policykit.model.severity import Severity
from policykit.targets.kai import DELAY, GRACE, LEVELS, PREEMPTIBILITY, SCHEDULER, SIZE, TOPOLOGY, topology

_PLACES: tuple[Path, ...] = (
    ("metadata", "annotations", SIZE),
    ("spec", "template", "metadata", "annotations", SIZE),
)
_JOBS: Path = ("spec", "replicatedJobs")
_UNREAD = frozenset(
    {
        ("", "Pod"),
        *(("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    }
)
"""(API group, kind) whose grouper reads no size: DefaultGrouper, or one group for each pod."""


_OF_OWNERS = frozenset({("batch", "Job"), ("apps", "Deployment"), ("apps", "StatefulSet")})
"""(API group, kind) whose grouper reads the topology of the object alone, not of its template."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/podgrouper/podgrouper/plugins` of KAI-Scheduler (0.15 to 0.17)."""
    kind = (manifest.group, manifest.kind)
    yield from _of_preemption(manifest)
    if not manifest.partial:
        yield from _topology(manifest, kind in _OF_OWNERS)
    if kind in _UNREAD:
        yield from _unread(manifest)
    elif kind == ("batch", "Job"):
        yield from _number(manifest.annotations.get(SIZE), ("metadata", "annotations", SIZE))
    elif kind == ("jobset.x-k8s.io", "JobSet"):
        yield from _number(manifest.annotations.get(SIZE), ("metadata", "annotations", SIZE))
        if any(each.scheduler_name == SCHEDULER for each in pod_sets(manifest.data)):
            yield from _of_job_set(manifest)


_PREEMPTIBLE = ("preemptible", "non-preemptible")


def _of_preemption(manifest: Manifest) -> Iterator[Violation]:
    """Values that are ignored.

    Source: `ParsePreemptibility` and `ParsePreemptionDelay` in pkg/apis/scheduling/v2alpha2, and
    `default_grouper.go` in plugins (0.10, and of the times 0.17, to 0.20).
    """
    sets = pod_sets(manifest.data)
    if not sets:
        return
    for field, keys in (("labels", (PREEMPTIBILITY,)), ("annotations", (DELAY, GRACE))):
        own: Path = ("metadata", field)
        for where in dict.fromkeys((own, *(at for each in sets if (at := each.places.get(field))))):
            entries = mapping(lookup(manifest.data, where))
            for key in keys:
                if isinstance(value := entries.get(key), str) and (fault := _fault(key, value)):
                    message = f"{key} is {value!r}, {fault}: KAI-Scheduler ignores it"
                    yield Violation((*where, key), message, _RIGHT[key], Severity.WARNING)


_RIGHT = {
    PREEMPTIBILITY: f"write {' or '.join(_PREEMPTIBLE)}",
    DELAY: "write a time such as 30s or 5m",
    GRACE: "write a time such as 30s or 5m; one below 0 keeps what is left of a gang",
}


def _fault(key: str, value: str) -> str:
    """What is wrong with a value; empty: nothing, or it is filled in later."""
    if is_placeholder(value):
        return ""
    if key == PREEMPTIBILITY:
        return "" if value in ("", *_PREEMPTIBLE) else f"neither {' nor '.join(_PREEMPTIBLE)}"
    if not is_signed_duration(value):
        return "no time"
    return "below 0" if key == DELAY and value.startswith("-") else ""


def _unread(manifest: Manifest) -> Iterator[Violation]:
    for path in _PLACES:
        if lookup(manifest.data, path) is not None:
            yield Violation(
                path,
                f"KAI-Scheduler reads {SIZE} only of Jobs and JobSets, not of a {manifest.kind}: its pods "
                "start one by one",
                "run them as a Job or a JobSet",
                Severity.WARNING,
                key=True,
            )


def _topology(manifest: Manifest, of_owner: bool) -> Iterator[Violation]:
    """Levels without a topology, and both where they are not read: the pods are then placed anywhere.

    Source: `default_grouper.go` in plugins, `getJobTopology` in pkg/scheduler/plugins/topology (0.9 to 0.20).
    """
    sets = pod_sets(manifest.data)
    places = [*topology.annotated(manifest, sets)] if sets else []
    anywhere = any(entries.get(TOPOLOGY) for _, entries in places)
    for where, entries in places:
        level = next((key for key in LEVELS if entries.get(key)), "")
        if level and not anywhere:
            yield Violation(
                (*where, level),
                f"{level} names a level, but no {TOPOLOGY} says of which Topology: "
                "the pods are placed anywhere",
                f"add {TOPOLOGY} with the name of the Topology",
                Severity.WARNING,
                key=True,
            )
        elif level and of_owner and where != topology.OWN and not manifest.annotations.get(TOPOLOGY):
            yield Violation(
                (*where, level),
                f"KAI-Scheduler reads {level} of the {manifest.kind}, not of its pods: "
                "they are placed anywhere",
                "move it, with the name of the Topology, to the annotations of the object",
                Severity.WARNING,
                key=True,
            )


def _number(stated: object, path: Path) -> Iterator[Violation]:
    if isinstance(stated, str) and not is_placeholder(stated) and not digits(stated):
        message = (
            f"{SIZE} is {stated!r}, not a whole number above 0: KAI-Scheduler makes no group of the pods"
        )
        yield Violation(path, message, "write the number of pods that must start together, quoted")


def _of_job_set(manifest: Manifest) -> Iterator[Violation]:
    """Each replica is a group of as many pods as run at once."""
    for position, job in numbered(lookup(manifest.data, _JOBS)):
        template = mapping(job.get("template"))
        own: Path = (*_JOBS, position, "template", "metadata", "annotations")
        size = mapping(lookup(template, ("metadata", "annotations"))).get(SIZE)
        yield from _number(size, (*own, SIZE))
        if size is None:
            yield from _rest(text(job.get("name")), mapping(template.get("spec")), position, own)


def _rest(name: str, spec: Mapping[str, Any], position: int, own: Path) -> Iterator[Violation]:
    together, all_of_them = whole(spec.get("parallelism")), whole(spec.get("completions"))
    if together is None or all_of_them is None or together < 1:
        return
    left = all_of_them % together
    if left:
        yield Violation(
            (*_JOBS, position, "template", "spec", "parallelism"),
            f"KAI-Scheduler starts {name} in gangs of parallelism {together}, and of completions "
            f"{all_of_them} the last {'pod waits' if left == 1 else f'{left} pods wait'} for ever",
            f"set {SIZE} in {dotted(own)} to the fewest pods that may run, or make completions a multiple",
            Severity.WARNING,
        )
