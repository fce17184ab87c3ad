"""A scheduler cannot read the gang metadata meant for it.

Labels and annotations are strings, and most schedulers report nothing when a value is not what they
expect: the gang never starts, or the pods start one by one as if there were none. The API server
refuses unquoted numbers, booleans and lists. No scheduler reads a misspelt key. A gang of AIBrix for Volcano
may ask for pods of each role by its name, and never starts with a name that no role has. KAI-Scheduler reads
batch-min-member of Jobs and JobSets alone, and makes a gang of as many pods of a JobSet as run in parallel.
It ignores a preemptibility or a time that it cannot read, and a label that it expects as an annotation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, partial

from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
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
    "scheduling.k8s.io/group-name",
    "scheduling.x-k8s.io/pod-group",
    "scheduling.volcano.sh/group-min-member",
    "volcano.sh/network-topology-",
    "volcano.sh/numa-topology-policy",
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
    yield from _labels_as_annotations(sets)
    yield from system_violations("PK310", manifest, context)


def _labels_as_annotations(sets: Sequence[PodSet]) -> Iterator[Violation]:
    for pod_set in sets:
        for key, title in _labels_of_plugins() if pod_set.annotations else ():
            if key in pod_set.annotations and key not in pod_set.labels:
                yield Violation(
                    pod_set.place("annotations", key),
                    f"{key} is an annotation, but {title} reads it as a label: the pods start one by one",
                    "move it to the labels of the pods",
                    Severity.WARNING,
                    key=True,
                )


@cache
def _labels_of_plugins() -> tuple[tuple[str, str], ...]:
    """Labels that plugins read, each with the title of its plugin: those of schedulers are judged by their
    own rules."""
    return tuple(
        (key.key, target.title)
        for target in TARGETS
        if target.read_group and not target.schedulers
        for key in target.keys
        if key.where == "labels" and key.purpose == "gang"
    )


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
