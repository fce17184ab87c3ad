"""A queue is set where no scheduler reads it.

Each scheduler reads the queue in one place of each API kind: Volcano in an annotation of the pod
template or a field of the job, YuniKorn and Koordinator in labels of the pod template, operators on
their own objects. Anywhere else it is stored and ignored, and the pods go to the default queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from policykit.kube import podsets, structure
from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.structure.problem import UNKNOWN_FIELD
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.linter.target import QueueKey, QueueSupport, Target
from policykit.manifests.document import Manifest, words
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.namedtuple import NamedTuple
from policykit.rules.system_checks import system_violations
from policykit.targets import TARGETS, target_name_of

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


class _TargetKey(NamedTuple):
    """A key that one system reads."""

    target: Target
    queues: QueueSupport
    key: QueueKey


class _MisplacedKey(NamedTuple):
    """A key where it has no effect."""

    of: _TargetKey
    path: Path
    value: str
    targets: tuple[Path, ...] = ()
    """Where it is read instead, the nearest place first; empty: nowhere in this kind."""


_TARGET_KEYS = tuple(
    _TargetKey(target, target.queues, key)
    for target in TARGETS
    if target.queues
    for key in target.queues.metadata
)
_TARGET_NAMES = tuple(dict.fromkeys(each.target.name for each in _TARGET_KEYS))
_KEYS = frozenset(each.key.key for each in _TARGET_KEYS)
_ELSEWHERE = frozenset({"containers", "initContainers", "status", "volumeClaimTemplates", "volumes"})
"""Fields without metadata, or with that of other things than pods and what makes them."""

_RAY = ("volcano.sh/queue-name", "yunikorn.apache.org/queue", "kueue.x-k8s.io/queue-name")
_RAY_CLUSTERS = frozenset({"RayCluster", "RayJob", "RayService"})
_NAMED = {"queue": "the queue", "app": "the application"}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every map of labels or annotations of an object that makes pods."""
    places = _named(manifest) if podsets.known(manifest.api_version, manifest.kind) else ()
    pod_sets = podsets.pod_sets(manifest.data) if places else ()
    for found in _misplaced(manifest, places, pod_sets, context.cluster):
        if not _is_unknown_field(manifest, found[0].path[:-1]):
            yield _violation(found, manifest)
    yield from _of_kind(manifest)
    yield from system_violations("PK410", manifest, context)


def _is_unknown_field(manifest: Manifest, path: Path) -> bool:
    """Then PK003 reports it."""
    problems = structure.check(manifest.data, manifest.api_version, manifest.kind)
    unknown = [problem.path for problem in problems if problem.kind == UNKNOWN_FIELD]
    return any(path[: len(each)] == each for each in unknown)


def _violation(found: Sequence[_MisplacedKey], manifest: Manifest) -> Violation:
    first = found[0]
    what = " and ".join(dict.fromkeys(_NAMED[each.of.key.refers_to] for each in found))
    targets = [each.targets for each in found]
    return Violation(
        first.path,
        f"{first.of.target.title} does not read {what} in {dotted(first.path[:-1])}",
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
        keys = sorted(
            (one for one in _TARGET_KEYS if one.key.key in order), key=lambda one: order.index(one.key.key)
        )
        for target_name in _TARGET_NAMES:
            own = [one for one in keys if one.target.name == target_name]
            found = [each for one in own if (each := _misplaced_key(place, one, manifest, pod_sets, cluster))]
            if found:
                yield tuple(found)


def _misplaced_key(
    place: Path, one: _TargetKey, manifest: Manifest, pod_sets: Sequence[PodSet], cluster: Cluster | None
) -> _MisplacedKey | None:
    """None where the key is absent or is read, or a queue is also set where it is read."""
    path = (*place, one.key.key)
    value = lookup(manifest.data, path)
    if not isinstance(value, str) or not value or is_placeholder(value):
        return None
    if not any(_serves(one, each, cluster) for each in pod_sets) or _of_pods(one, place, manifest, pod_sets):
        return None
    if not one.key.on_pods and any(one.queues.group_key in each.annotations for each in pod_sets):
        return None  # the system itself labels the pods of its jobs
    read = [queues.read(manifest.data, each, one.target.name, one.key.refers_to) for each in pod_sets]
    wanted = [queues.places(manifest.data, each, one.target.name, one.key.refers_to) for each in pod_sets]
    if any(read) or any(path in paths for paths in wanted):
        return None
    best = [next((p for p in paths if p[-1] == one.key.key), paths[0]) for paths in wanted if paths]
    near = sorted(dict.fromkeys(best), key=lambda each: -_shared(each, path))
    inside = [each for each in near if _shared(each, path) >= len(place) - 1 > 1]
    return _MisplacedKey(one, path, value, tuple(inside or near))


def _shared(one: Path, other: Path) -> int:
    """Steps that both have in common."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _of_pods(one: _TargetKey, place: Path, manifest: Manifest, pod_sets: Sequence[PodSet]) -> bool:
    """Whether the pods get it and are read themselves, whatever made them."""
    if not one.key.on_pods or (one.key.where and place[-1] != one.key.where):
        return False
    if one.target.jobs and one.target.jobs.includes(manifest.group):
        return False  # its jobs name the queue
    field = str(place[-1])
    value = lookup(manifest.data, (*place, one.key.key))
    return any(
        place == each.places.get(field)
        or (each.labels if field == "labels" else each.annotations).get(one.key.key) == value
        for each in pod_sets
    )


def _serves(one: _TargetKey, pod_set: PodSet, cluster: Cluster | None) -> bool:
    """Whether the system places the pods: by their schedulerName, or because they have the key."""
    if pod_set.scheduler_name:
        return target_name_of(pod_set.scheduler_name, cluster) == one.target.name
    return one.key.claims and (cluster is None or one.target.name in cluster.targets)


def _maps(data: object, path: Path) -> Iterator[Path]:
    """Paths of all labels and annotations."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("labels", "annotations") and isinstance(value, dict):
                yield (*path, key)
            elif isinstance(value, (dict, list)) and isinstance(key, str) and key not in _ELSEWHERE:
                yield from _maps(value, (*path, key))
    elif isinstance(data, list):
        for number, item in enumerate(data):
            if isinstance(item, (dict, list)):
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
    if manifest.group == "ray.io" and manifest.kind in _RAY_CLUSTERS:
        for key in (*_RAY[:2], "yunikorn.apache.org/app-id"):
            path: Path = ("metadata", "annotations", key)
            if isinstance(lookup(manifest.data, path), str) and key not in manifest.labels:
                yield Violation(
                    path,
                    f"KubeRay reads {key} from the labels of a {manifest.kind}, not from its annotations",
                    "move it to metadata.labels",
                    Severity.WARNING,
                    key=True,
                )
    if manifest.kind == "RayCronJob" and manifest.group == "ray.io":
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
    substrings=("queue", "yunikorn.apache", "applicationId", "koord"),
    fix=Applicability.UNSAFE,
)
