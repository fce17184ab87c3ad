"""A queue is written where nobody reads it.

Each scheduler reads the queue in one place of each API kind: Volcano in an annotation of the pod
template or a field of the job, YuniKorn and Koordinator in labels of the pod template, operators
on their own objects. Anywhere else it is kept and ignored, and the pods go to the default queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from policykit.kube import podsets, structure
from policykit.kube.structure.problem import UNKNOWN_FIELD
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Move, Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Applicability, Severity
from policykit.targets.misplaced_queue import TITLES, Misplaced, misplaced, named, shown
from policykit.targets.volcano.names import QUEUE_NAME

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


_GROVE = "scheduling.grove.io/volcano-queue"
_RAY = ("volcano.sh/queue-name", "yunikorn.apache.org/queue", "kueue.x-k8s.io/queue-name")
_NAMED = {"queue": "the queue", "app": "the application"}


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Every map of labels or annotations of an object that makes pods."""
    places = named(manifest) if podsets.known(manifest.api_version, manifest.kind) else ()
    pod_sets = podsets.pod_sets(manifest.data) if places else ()
    for found in misplaced(manifest, places, pod_sets, context.cluster):
        if not _is_unknown_field(manifest, found[0].path[:-1]):
            yield _violation(found, manifest)
    yield from _of_kind(manifest)


def _is_unknown_field(manifest: Manifest, path: Path) -> bool:
    """PK003 says it then."""
    problems = structure.check(manifest.data, manifest.api_version, manifest.kind)
    unknown = [problem.path for problem in problems if problem.kind == UNKNOWN_FIELD]
    return any(path[: len(each)] == each for each in unknown)


def _violation(found: Sequence[Misplaced], manifest: Manifest) -> Violation:
    first = found[0]
    title = TITLES[first.word.system]
    what = " and ".join(dict.fromkeys(_NAMED[each.word.what] for each in found))
    targets = [each.targets for each in found]
    return Violation(
        first.path,
        f"{title} does not read {what} in {dotted(first.path[:-1])}",
        f"write it in {shown(targets[0])}" if all(targets) else f"a {manifest.kind} has no place for it",
        key=True,
        fix=partial(_fix, found, manifest) if all(len(each) == 1 for each in targets) else None,
    )


def _fix(found: Sequence[Misplaced], manifest: Manifest) -> Fix:
    """Moved to the one place that counts, where nothing stands; a map that is left empty goes."""
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
    """Places that look right for the kind, and are not."""
    if manifest.kind == "DynamoGraphDeployment" and manifest.group == "nvidia.com":
        path: Path = ("metadata", "annotations", _GROVE)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                f"{_GROVE} is not read in metadata.annotations of a DynamoGraphDeployment",
                "write it in spec.annotations, or nvidia.com/volcano-queue in its place",
                key=True,
            )
    elif manifest.kind == "TrainJob" and isinstance(lookup(manifest.data, ("spec", "runtimePatches")), list):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "a TrainJob with runtimePatches (Trainer 2.2) has no spec.annotations: the queue is dropped",
                "write it in trainingRuntimeSpec.template.metadata.annotations of a runtime patch",
                key=True,
            )
    elif manifest.kind == "LLMInferenceService" and lookup(manifest.data, ("spec", "worker")):
        path = ("spec", "annotations", QUEUE_NAME)
        if isinstance(lookup(manifest.data, path), str):
            yield Violation(
                path,
                "with workers the gangs are LeaderWorkerSet's, which does not get spec.annotations",
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
                    f"a RayCronJob does not hand label {key} on to the jobs it makes",
                    "a RayCronJob has no place for a queue: make RayJobs, or let the namespace decide",
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
