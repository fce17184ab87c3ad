"""Kueue refuses a topology request, or the release does not read it.

A pod set is either within one level, near it, or anywhere. Slices need their size, and levels are
node labels. The webhook refuses the job otherwise. Pods that are left over beside whole slices never get a
node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.names import label_key_problem
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet, pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path
from policykit.manifests.shape import is_boolean, whole
from policykit.model.release import Version
from policykit.model.severity import Severity
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import (
    POD_GROUP,
    POD_SET_GROUP,
    PREFERRED_TOPOLOGY,
    REQUIRED_TOPOLOGY,
    SLICE_CONSTRAINTS,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    TOPOLOGY_KEYS,
    UNCONSTRAINED_TOPOLOGY,
)
from policykit.targets.kueue.release_facts import TOPOLOGY_REQUESTS

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  parallelism: 4
  completions: 4
  template:
    metadata:
      annotations:
        kueue.x-k8s.io/podset-required-topology: example.com/block
        kueue.x-k8s.io/podset-preferred-topology: example.com/rack
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = BAD.replace("        kueue.x-k8s.io/podset-preferred-topology: example.com/rack\n", "")

_LEVELS = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_TOPOLOGY)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controller/jobframework/tas_validation.go` (0.9 to 0.19)."""
    if manifest.read_as or not words(manifest.data).begin(("kueue.x-k8s.io/podset-",)):
        return
    seen: set[Path] = set()
    found = pod_sets(manifest.data)
    yield from _lone(manifest, found, versions.release_of(context.cluster))
    for pod_set in found:
        place = pod_set.places.get("annotations")
        if place is None or place in seen:
            continue
        seen.add(place)
        yield from _request(pod_set, place, context)


def _request(pod_set: PodSet, place: Path, context: Context) -> Iterator[Violation]:
    there = {key: value for key, value in pod_set.annotations.items() if not is_placeholder(value)}
    have = versions.release_of(context.cluster)
    for fact in TOPOLOGY_REQUESTS:
        if fact.name in there and have and not fact.read_by(have):
            yield Violation(
                (*place, fact.name),
                f"Kueue {have} does not read {fact.name}, added in {fact.since}",
                "remove it",
                key=True,
            )
            del there[fact.name]
    several = [key for key in TOPOLOGY_KEYS if key in there]
    if len(several) > 1:
        names = " and ".join(key.partition("/")[2] for key in several)
        yield Violation(
            (*place, several[1]),
            f"{names} exclude each other",
            f"keep one: {REQUIRED_TOPOLOGY} if the pods must be together",
            key=True,
        )
    yield from _values(there, place)
    yield from _slices(pod_set, there, place)
    if SLICE_CONSTRAINTS in there:
        yield from _layers(there, _pods(pod_set), (*place, SLICE_CONSTRAINTS))
    if POD_SET_GROUP in there:
        yield from _group(there, place, have)


_GROUPED = frozenset({"JobSet", "LeaderWorkerSet", "MPIJob", "RayCluster", "RayJob"})
"""Kinds whose webhooks count the pod sets of a group."""


def _lone(manifest: Manifest, found: Sequence[PodSet], have: Version | None) -> Iterator[Violation]:
    """A group is two pod sets of one job. Source: `ValidatePodSetGroupingTopology` (0.14.2 to 0.19)."""
    if manifest.kind not in _GROUPED or manifest.partial or (have and have < versions.GROUP_TOPOLOGY):
        return
    members: dict[str, list[PodSet]] = {}
    for pod_set in found:
        name = pod_set.annotations.get(POD_SET_GROUP)
        if pod_set.places.get("annotations") and name and not is_placeholder(name):
            members.setdefault(name, []).append(pod_set)
    since = "" if have else f": Kueue refuses that since {versions.GROUP_TOPOLOGY}"
    for name, pods in members.items():
        if wrong := _unlike(manifest, pods):
            severity = None if have else Severity.WARNING
            message, advice = f"{POD_SET_GROUP} {name} is named by {wrong[0]}{since}", wrong[1]
            yield Violation(pods[0].place("annotations", POD_SET_GROUP), message, advice, severity, key=True)


def _unlike(manifest: Manifest, pods: Sequence[PodSet]) -> tuple[str, str] | None:
    """What is wrong with the pod sets of a group, and what to do.

    Only those of a JobSet are counted: a LeaderWorkerSet is admitted by replicas, others have one head.
    """
    if len(pods) != 2:
        said = f"{len(pods)} pod {'set' if len(pods) == 1 else 'sets'}, not by 2"
        return said, "name the group in two pod sets, one of a single pod"
    for key in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY):
        one, other = (each.annotations.get(key) for each in pods)
        if one != other and not is_placeholder(one) and not is_placeholder(other):
            said = " and ".join(each or "none" for each in (one, other))
            return (
                f"pod sets of which each has another {key.partition('/')[2]}: {said}",
                "write the same in both",
            )
    counts = [each.replicas for each in pods]
    if manifest.kind == "JobSet" and None not in counts and 1 not in counts:
        said = f"pod sets of {counts[0]} and {counts[1]} pods, neither of a single pod"
        return said, "name the group in a pod set of one pod and in another"
    return None


def _values(there: Mapping[str, str], place: Path) -> Iterator[Violation]:
    for key in _LEVELS:
        if key in there and (problem := label_key_problem(there[key])):
            yield Violation(
                (*place, key), f"level {there[key]!r} {problem}", "write the node label of a level"
            )
    free = there.get(UNCONSTRAINED_TOPOLOGY)
    if free is not None and not is_boolean(free):
        yield Violation(
            (*place, UNCONSTRAINED_TOPOLOGY),
            f"{UNCONSTRAINED_TOPOLOGY} is {free!r}, not true or false",
            'write "true"',
        )


def _slices(pod_set: PodSet, there: Mapping[str, str], place: Path) -> Iterator[Violation]:
    size = there.get(SLICE_SIZE)
    if (size is None) != (SLICE_TOPOLOGY not in there):
        has, lacks = (SLICE_SIZE, SLICE_TOPOLOGY) if size is not None else (SLICE_TOPOLOGY, SLICE_SIZE)
        # Either may be set in the object that this one patches.
        yield Violation(
            (*place, has), f"{has} is set, but {lacks} is not", f"add {lacks}, or remove {has}", key=True
        )
    elif size is not None and not (size.isascii() and size.isdigit() and int(size[:10]) > 0):
        yield Violation(
            (*place, SLICE_SIZE),
            f"{SLICE_SIZE} is {size!r}, not a whole number above 0",
            "write the pods of a slice",
        )
    elif size is not None and (pods := _pods(pod_set)) is not None:
        yield from _divided(int(size[:10]), pods, (*place, SLICE_SIZE))


def _pods(pod_set: PodSet) -> int | None:
    """How many pods are placed together; None: unknown, as with those that join a group of plain pods."""
    return None if POD_GROUP in pod_set.labels else pod_set.replicas


def _divided(size: int, pods: int, path: Path) -> Iterator[Violation]:
    if size > pods:
        yield Violation(path, f"a slice has {size} pods, but there are {pods}", f"write at most {pods}")
    elif pods % size:
        yield Violation(
            path,
            f"slices of {size} pods do not divide {pods}: Kueue admits the workload, "
            f"but {pods % size} of its pods never {'gets' if pods % size == 1 else 'get'} a node",
            f"write a divisor of {pods}, or change the number of pods",
            Severity.WARNING,
        )


_MOST_LAYERS = 3


def _layers(there: Mapping[str, str], pods: int | None, path: Path) -> Iterator[Violation]:
    """Source: `validateSliceRequiredTopologyConstraintsAnnotation` (0.17 to 0.19)."""
    for key in (SLICE_TOPOLOGY, SLICE_SIZE):
        if key in there:
            message = f"{SLICE_CONSTRAINTS} cannot be combined with {key}"
            yield Violation(path, message, "remove one of them", key=True)
            return
    try:
        listed = json.loads(there[SLICE_CONSTRAINTS])
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        advice = 'write JSON: [{"topology": "example.com/rack", "size": 4}]'
        yield Violation(path, f"{SLICE_CONSTRAINTS} is not a list in JSON", advice)
        return
    if not 1 <= len(listed) <= _MOST_LAYERS:
        message = f"{SLICE_CONSTRAINTS} has {len(listed)} layers, not 1 to {_MOST_LAYERS}"
        yield Violation(path, message, "write those that matter")
    sizes = [whole(each.get("size")) or 0 for each in listed]
    levels = [each.get("topology") for each in listed]
    if any(size < 1 for size in sizes):
        yield Violation(path, f"{SLICE_CONSTRAINTS} has a layer without a size", "write 1 or more pods")
        return
    if sizes and pods is not None and sizes[0] > pods:
        yield Violation(
            path, f"the first layer has {sizes[0]} pods, but there are {pods}", f"write at most {pods}"
        )
    for number, (size, level) in enumerate(zip(sizes, levels, strict=True)):
        fault = label_key_problem(level) if isinstance(level, str) else "is not text"
        if fault and not is_placeholder(level):
            yield Violation(path, f"level {level!r} {fault}", "write the node label of a level")
        elif level in levels[:number]:
            yield Violation(path, f"layer {level} is listed twice", "list it once")
        elif number and sizes[number - 1] % size:
            message = f"a layer of {size} pods does not divide the one above it, of {sizes[number - 1]}"
            yield Violation(path, message, "write a divisor of it")


def _group(there: Mapping[str, str], place: Path, have: Version | None) -> Iterator[Violation]:
    """The first that is wrong with the group; a release that checks less accepts it."""
    path, name = (*place, POD_SET_GROUP), there[POD_SET_GROUP]
    beside = next((key for key in (SLICE_SIZE, SLICE_TOPOLOGY, SLICE_CONSTRAINTS) if key in there), "")
    first = versions.GROUPS_CHECKED
    if beside:
        message, advice = f"cannot be combined with {beside}", "remove one of them"
    elif REQUIRED_TOPOLOGY not in there and PREFERRED_TOPOLOGY not in there:
        message = "is set, but no required or preferred topology"
        advice = f"add {REQUIRED_TOPOLOGY}, the same to both pod sets of the group"
        first = versions.GROUP_TOPOLOGY
    else:
        message = ""
    since, severity = ("", None) if have else (f": Kueue refuses that since {first}", Severity.WARNING)
    if message and (have is None or have >= first):
        yield Violation(path, f"{POD_SET_GROUP} {message}{since}", advice, severity, key=True)
    if name.isascii() and name.isdigit() and (have is None or have >= versions.GROUPS_CHECKED):
        since = since and f": Kueue refuses that since {versions.GROUPS_CHECKED}"
        yield Violation(path, f"{POD_SET_GROUP} is the number {name}{since}", "write a name", severity)


RULE = Rule(
    code="PK925",
    name="invalid-topology-request",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("kueue",),
)
