"""Sizes of the gangs that KAI-Scheduler makes of jobs itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import digits, mapping, numbered, text, whole
from policykit.model.severity import Severity
from policykit.targets.kai import SCHEDULER, topology

_SIZE = "kai.scheduler/batch-min-member"
_PLACES: tuple[Path, ...] = (
    ("metadata", "annotations", _SIZE),
    ("spec", "template", "metadata", "annotations", _SIZE),
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
    if not manifest.partial:
        yield from _topology(manifest, kind in _OF_OWNERS)
    if kind in _UNREAD:
        yield from _unread(manifest)
    elif kind == ("batch", "Job"):
        yield from _number(manifest.annotations.get(_SIZE), ("metadata", "annotations", _SIZE))
    elif kind == ("jobset.x-k8s.io", "JobSet"):
        yield from _number(manifest.annotations.get(_SIZE), ("metadata", "annotations", _SIZE))
        if any(each.scheduler_name == SCHEDULER for each in pod_sets(manifest.data)):
            yield from _of_job_set(manifest)


def _unread(manifest: Manifest) -> Iterator[Violation]:
    for path in _PLACES:
        if lookup(manifest.data, path) is not None:
            yield Violation(
                path,
                f"KAI-Scheduler reads {_SIZE} only of Jobs and JobSets, not of a {manifest.kind}: its pods "
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
    anywhere = any(entries.get(topology.NAME) for _, entries in places)
    for where, entries in places:
        level = next((key for key in topology.LEVELS if entries.get(key)), "")
        if level and not anywhere:
            yield Violation(
                (*where, level),
                f"{level} names a level, but no {topology.NAME} says of which Topology: "
                "the pods are placed anywhere",
                f"add {topology.NAME} with the name of the Topology",
                Severity.WARNING,
                key=True,
            )
        elif level and of_owner and where != topology.OWN and not manifest.annotations.get(topology.NAME):
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
            f"{_SIZE} is {stated!r}, not a whole number above 0: KAI-Scheduler makes no group of the pods"
        )
        yield Violation(path, message, "write the number of pods that must start together, quoted")


def _of_job_set(manifest: Manifest) -> Iterator[Violation]:
    """Each replica is a group of as many pods as run at once."""
    for position, job in numbered(lookup(manifest.data, _JOBS)):
        template = mapping(job.get("template"))
        own: Path = (*_JOBS, position, "template", "metadata", "annotations")
        size = mapping(lookup(template, ("metadata", "annotations"))).get(_SIZE)
        yield from _number(size, (*own, _SIZE))
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
            f"set {_SIZE} in {dotted(own)} to the fewest pods that may run, or make completions a multiple",
            Severity.WARNING,
        )
