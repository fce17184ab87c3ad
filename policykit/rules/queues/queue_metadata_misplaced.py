"""A queue is set where no scheduler reads it.

Each scheduler reads the queue in one place of each API kind: Volcano in an annotation of the pod
template or a field of the job, YuniKorn and Koordinator in labels of the pod template, operators on
their own objects. Anywhere else it is stored and ignored, and the pods go to the default queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube import podsets, structure
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.problem import UNKNOWN_FIELD
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.targets import system_of
from policykit.targets.koordinator.names import QUOTA_NAME
from policykit.targets.volcano.names import GROUP_NAME, QUEUE_LABEL, QUEUE_NAME
from policykit.targets.yunikorn.names import APP_ID, QUEUE

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: train
  annotations:
    scheduling.volcano.sh/queue-name: research
spec:
  replicas: 2
  selector:
    matchLabels: {app: train}
  template:
    metadata:
      labels: {app: train}
    spec:
      schedulerName: volcano
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests: {cpu: "4", memory: 16Gi}
"""

GOOD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: train
spec:
  replicas: 2
  selector:
    matchLabels: {app: train}
  template:
    metadata:
      labels: {app: train}
      annotations:
        scheduling.volcano.sh/queue-name: research
    spec:
      schedulerName: volcano
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests: {cpu: "4", memory: 16Gi}
"""

_NEITHER = "neither"


class _QueueKey(NamedTuple):
    """A key that one system reads, and what it names there."""

    system: str
    key: str
    what: str = "queue"
    form: str = ""
    """labels or annotations, where it is read as one of them alone; _NEITHER: never of pods."""


class _MisplacedKey(NamedTuple):
    """A key where it has no effect."""

    word: _QueueKey
    path: Path
    value: str
    targets: tuple[Path, ...] = ()
    """Where it is read instead, the nearest place first; empty: nowhere in this kind."""


_TITLES = {"volcano": "Volcano", "yunikorn": "YuniKorn", "koordinator": "Koordinator"}
_WORDS = (
    _QueueKey("volcano", QUEUE_NAME, form="annotations"),
    _QueueKey("volcano", QUEUE_LABEL, form=_NEITHER),
    _QueueKey("yunikorn", QUEUE),
    _QueueKey("yunikorn", "queue", form="labels"),
    _QueueKey("yunikorn", APP_ID, "app"),
    _QueueKey("yunikorn", "applicationId", "app", "labels"),
    _QueueKey("koordinator", QUOTA_NAME, form="labels"),
)
_KEYS = frozenset(word.key for word in _WORDS)
_BARE = frozenset({"queue", "applicationId"})
"""Common labels: they mean a queue only where YuniKorn certainly places the pods."""
_OF_JOB = frozenset({"batch.volcano.sh", "flow.volcano.sh"})
"""API groups whose pods go to the queue of their job, whatever their own metadata."""
_ELSEWHERE = frozenset({"status", "volumeClaimTemplates", "volumes"})
"""Fields with metadata of other things than pods and what makes them."""

_GROVE = "scheduling.grove.io/volcano-queue"
_RAY = ("volcano.sh/queue-name", "yunikorn.apache.org/queue", "kueue.x-k8s.io/queue-name")
_NAMED = {"queue": "the queue", "app": "the application"}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every map of labels or annotations of an object that makes pods."""
    places = _named(manifest) if podsets.known(manifest.api_version, manifest.kind) else ()
    pod_sets = podsets.pod_sets(manifest.data) if places else ()
    for found in _misplaced(manifest, places, pod_sets, context.cluster):
        if not _is_unknown_field(manifest, found[0].path[:-1]):
            yield _violation(found, manifest)
    yield from _of_kind(manifest)


def _is_unknown_field(manifest: Manifest, path: Path) -> bool:
    """Then PK003 reports it."""
    problems = structure.check(manifest.data, manifest.api_version, manifest.kind)
    unknown = [problem.path for problem in problems if problem.kind == UNKNOWN_FIELD]
    return any(path[: len(each)] == each for each in unknown)


def _violation(found: Sequence[_MisplacedKey], manifest: Manifest) -> Violation:
    first = found[0]
    title = _TITLES[first.word.system]
    what = " and ".join(dict.fromkeys(_NAMED[each.word.what] for each in found))
    targets = [each.targets for each in found]
    return Violation(
        first.path,
        f"{title} does not read {what} in {dotted(first.path[:-1])}",
        f"move it to {_shown(targets[0])}" if all(targets) else f"a {manifest.kind} has no field for it",
        key=True,
        fix=partial(_fix, found, manifest) if all(len(each) == 1 for each in targets) else None,
    )


def _named(manifest: Manifest) -> tuple[Path, ...]:
    """Labels and annotations that hold one of the keys at all."""
    if _KEYS.isdisjoint(words(manifest.data).keys):
        return ()
    return tuple(
        place
        for place in _maps(manifest.data, ())
        if not _KEYS.isdisjoint(mapping(lookup(manifest.data, place)))
    )


def _misplaced(
    manifest: Manifest, places: Sequence[Path], pod_sets: Sequence[PodSet], cluster: Cluster | None
) -> Iterator[tuple[_MisplacedKey, ...]]:
    """What each of these maps sets without effect for one system, in the object's order."""
    for place in places:
        order = list(mapping(lookup(manifest.data, place)))
        words = sorted((word for word in _WORDS if word.key in order), key=lambda word: order.index(word.key))
        for system in _TITLES:
            words_of = [word for word in words if word.system == system]
            found = [each for word in words_of if (each := _in(place, word, manifest, pod_sets, cluster))]
            if found:
                yield tuple(found)


def _in(
    place: Path, word: _QueueKey, manifest: Manifest, pod_sets: Sequence[PodSet], cluster: Cluster | None
) -> _MisplacedKey | None:
    """None where the key is absent or is read, or a queue is also set where it is read."""
    path = (*place, word.key)
    value = lookup(manifest.data, path)
    if not isinstance(value, str) or not value or is_placeholder(value):
        return None
    if not any(_serves(word, each, cluster) for each in pod_sets) or _of_pods(
        word, place, manifest, pod_sets
    ):
        return None
    if word.key == QUEUE_LABEL and any(GROUP_NAME in each.annotations for each in pod_sets):
        return None  # as Volcano itself labels the pods of its jobs
    read = [queues.read(manifest.data, each, word.system, word.what) for each in pod_sets]
    wanted = [queues.places(manifest.data, each, word.system, word.what) for each in pod_sets]
    if any(read) or any(path in paths for paths in wanted):
        return None
    best = [next((p for p in paths if p[-1] == word.key), paths[0]) for paths in wanted if paths]
    near = sorted(dict.fromkeys(best), key=lambda each: -_shared(each, path))
    inside = [each for each in near if _shared(each, path) >= len(place) - 1 > 1]
    return _MisplacedKey(word, path, value, tuple(inside or near))


def _shared(one: Path, other: Path) -> int:
    """Steps that both have in common."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _of_pods(word: _QueueKey, place: Path, manifest: Manifest, pod_sets: Sequence[PodSet]) -> bool:
    """Whether the pods get it and are read themselves, whatever made them."""
    if (word.form and place[-1] != word.form) or (word.system == "volcano" and manifest.group in _OF_JOB):
        return False
    return any(place == each.places.get(str(place[-1])) for each in pod_sets)


def _serves(word: _QueueKey, pod_set: PodSet, cluster: Cluster | None) -> bool:
    """Whether the system places the pods; YuniKorn those with its own keys, too."""
    if pod_set.scheduler_name:
        return system_of(pod_set.scheduler_name, cluster) == word.system
    taken_over = cluster is None or "yunikorn" in cluster.targets
    return word.system == "yunikorn" and word.key not in _BARE and taken_over


def _maps(data: object, path: Path) -> Iterator[Path]:
    """Paths of all labels and annotations."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in ("labels", "annotations") and isinstance(value, Mapping):
                yield (*path, key)
            elif isinstance(key, str) and key not in _ELSEWHERE:
                yield from _maps(value, (*path, key))
    elif isinstance(data, list):
        for number, item in enumerate(data):
            yield from _maps(item, (*path, number))


def _shown(paths: Sequence[Path]) -> str:
    """Places for people: spec.queue, and of a label or annotation the map, spec.template.metadata.labels."""
    maps = (path[:-1] if path[-2:-1] in (("labels",), ("annotations",)) else path for path in paths)
    return " or ".join(dict.fromkeys(map(dotted, maps)))


def _fix(found: Sequence[_MisplacedKey], manifest: Manifest) -> Fix:
    """Moved to the one place that is read, if it is free; a map left empty is deleted."""
    patches: list[Patch] = []
    for each in found:
        (target,) = each.targets
        if target[-1] == each.path[-1]:
            patches.append(Patch("move", (), Move(each.path, target)))
        else:
            patches += [Patch("add", target, each.value), Patch("remove", each.path)]
    place = found[0].path[:-1]
    if len(mapping(lookup(manifest.data, place))) == len(found):
        patches.append(Patch("remove", place))
    return Fix("move it to where it is read", tuple(patches), Applicability.UNSAFE)


def _of_kind(manifest: Manifest) -> Iterator[Violation]:
    """Places that look right for the kind but are not."""
    if manifest.kind == "DynamoGraphDeployment" and manifest.group == "nvidia.com":
        path: Path = ("metadata", "annotations", _GROVE)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                f"{_GROVE} is not read in metadata.annotations of a DynamoGraphDeployment",
                "move it to spec.annotations, or use nvidia.com/volcano-queue instead",
                key=True,
            )
    elif manifest.kind == "TrainJob" and isinstance(lookup(manifest.data, ("spec", "runtimePatches")), list):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "a TrainJob with runtimePatches (Trainer 2.2) has no spec.annotations: the queue is dropped",
                "move it to trainingRuntimeSpec.template.metadata.annotations of a runtime patch",
                key=True,
            )
    elif manifest.kind == "LLMInferenceService" and lookup(manifest.data, ("spec", "worker")):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "with workers, LeaderWorkerSet makes the gangs and does not receive spec.annotations",
                f"annotate its namespace with {QUEUE_NAME}",
                Severity.WARNING,
                key=True,
            )
    elif manifest.kind == "RayCronJob" and manifest.group == "ray.io":
        for key in _RAY:
            path = ("metadata", "labels", key)
            if isinstance(lookup(manifest.data, path), str):
                yield Violation(
                    path,
                    f"a RayCronJob does not pass label {key} on to its jobs",
                    "a RayCronJob cannot set a queue: use RayJobs, or a default queue of the namespace",
                    key=True,
                )


RULE = Rule(
    code="PK410",
    name="queue-metadata-misplaced",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    fix=Applicability.UNSAFE,
)
