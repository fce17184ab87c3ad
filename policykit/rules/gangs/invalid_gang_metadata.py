"""A scheduler cannot read the gang metadata meant for it.

Labels and annotations are strings, and most schedulers report nothing when a value is not what they
expect: the gang never starts, or the pods start one by one as if there were none. The API server
refuses unquoted numbers, booleans and lists. No scheduler reads a misspelt key. A gang of AIBrix for Volcano
may ask for pods of each role by its name, and never starts with a name that no role has. KAI-Scheduler reads
batch-min-member of Jobs and JobSets alone, and makes a gang of as many pods of a JobSet as run in parallel.
It ignores a preemptibility or a time that it cannot read. No system reads a label as an annotation, or the
reverse.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.rules.gangs import misspelt_keys
from policykit.rules.system_checks import system_violations
from policykit.targets import GANG_ANNOTATIONS, TARGETS

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  parallelism: 4
  completions: 4
  template:
    metadata:
      annotations:
        gang.scheduling.koordinator.sh/name: train
        gang.scheduling.koordinator.sh/min-available: 4
    spec:
      schedulerName: koord-scheduler
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = BAD.replace("min-available: 4", 'min-available: "4"')

_MARKS = (
    "gang.scheduling.koordinator.sh/",
    "kai.scheduler/",
    "pod-group.scheduling.sigs.k8s.io",
    "ray.io/",
    "scheduling.k8s.io/group-name",
    "scheduling.koordinator.sh/",
    "scheduling.x-k8s.io/pod-group",
    "scheduling.volcano.sh/group-min-member",
    "volcano.sh/network-topology-",
    "volcano.sh/numa-topology-policy",
    "volcano.sh/revocable-zone",
    "volcano.sh/vgpu-",
    "yunikorn.apache.org/",
    "kueue.x-k8s.io/pod-group-",
    "kueue.x-k8s.io/podset-",
    "podGroupPolicy",
    "volcanoSchedulingStrategy",
)
"""What the keys of gang metadata, and fields that ask for a gang, begin with; most objects have none."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """PodGroups, owners of pods and pod templates, each scheduler's metadata by its own rules."""
    if manifest.read_as:
        return
    misspelt = misspelt_keys.found_in(manifest)
    if manifest.kind != "PodGroup" and not misspelt and not words(manifest.data).begin(_MARKS):
        return
    sets = pod_sets(manifest.data)
    yield from misspelt_keys.violations(manifest, sets, misspelt)
    yield from _unquoted(manifest, sets)
    yield from _in_the_other_map(manifest, sets)
    yield from system_violations("PK310", manifest, context)


def _in_the_other_map(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[Violation]:
    """Labels that are read as annotations, and annotations that are read as labels."""
    of_pods = (each.places.get(field) for each in sets for field in _OTHER)
    own = (("metadata", field) for field in _OTHER if sets)
    for place in dict.fromkeys((*own, *filter(None, of_pods))):
        field, entries = str(place[-1]), mapping(lookup(manifest.data, place))
        beside = mapping(lookup(manifest.data, (*place[:-1], _OTHER[field])))
        for key in entries:
            reader = _readers().get((field, key)) if isinstance(key, str) and key not in beside else None
            if reader:
                a, an = ("a label", "an annotation") if field == "labels" else ("an annotation", "a label")
                yield Violation(
                    (*place, key),
                    f"{key} is {a}, but {reader} reads it as {an}",
                    f"move it to the {_OTHER[field]}",
                    Severity.WARNING,
                    key=True,
                )


_OTHER = {"labels": "annotations", "annotations": "labels"}


@cache
def _readers() -> Mapping[tuple[str, str], str]:
    """(map, key) in which nothing reads a key to the title of the system that reads it in the other map.

    Those of queues, and of Kueue, are judged by rules of their own.
    """
    read = {
        (where, key): target.title
        for target in TARGETS
        if target.schedulers or target.read_group
        for where, key in (
            *((key.where, key.key) for key in target.keys if key.purpose != "queue"),
            *(("annotations", key) for key in target.gang_annotations),
            *(("labels", key) for key in target.labels),
        )
    }
    read |= {("labels", key): "KubeRay" for key in misspelt_keys.OF_KUBERAY}
    return {(_OTHER[at], key): who for (at, key), who in read.items() if (_OTHER[at], key) not in read}


def _unquoted(manifest: Manifest, sets: Sequence[PodSet]) -> Iterator[Violation]:
    """Gang annotations that are not strings; another rule reports labels."""
    places = [
        ("metadata", "annotations"),
        *(place for one in sets if (place := one.places.get("annotations"))),
    ]
    for place in dict.fromkeys(places):
        found = lookup(manifest.data, place)
        for key, value in found.items() if isinstance(found, dict) else ():
            if key in GANG_ANNOTATIONS and value is not None and not isinstance(value, str):
                path = (*place, key)
                yield Violation(
                    path,
                    f"{key} is {_kind(value)}, but annotations are strings: the API server refuses it",
                    f"write {_quoted(manifest, path, value)!r}",
                    fix=partial(_fix, manifest, path, value),
                )


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a map"


def _quoted(manifest: Manifest, path: Path, value: object) -> str:
    if isinstance(value, (int, float)):  # bool included: as written in the file
        return manifest.written(path) or json.dumps(value)
    return json.dumps(value, default=str)


def _fix(manifest: Manifest, path: Path, value: object) -> Fix:
    patch = Patch("replace", path, _quoted(manifest, path, value))
    return Fix("quote the value", (patch,), Applicability.SAFE)


RULE = Rule(
    code="PK310",
    name="invalid-gang-metadata",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        *("group", "odGroup", "ray.io", "exclusive-topology"),
        *(word for target in TARGETS for word in target.gang_substrings),
    ),
    fix=Applicability.SAFE,
)
