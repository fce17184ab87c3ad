"""Metadata for Kueue is where Kueue does not read it as intended, or has a value that Kueue refuses.

Kueue admits a Job as a whole by the labels of the Job. On the pod template the queue belongs to each pod:
Kueue admits the pods one by one, which suits only those of a Deployment or StatefulSet. A topology is
requested in the annotations of the pod template, parameters of a ProvisioningRequest in those of the object,
and a queue never in an annotation. Pods that name another queue than their object may stay gated. Its
webhooks refuse names that no object can have, an empty queue, a time limit that is not a number of seconds,
and elastic jobs of kinds that have none. A RayJob on a cluster that its clusterSelector names is suspended
and never admitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import PodSet, pod_sets, queues
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, dotted, lookup
from policykit.manifests.shape import mapping, pairs
from policykit.model.severity import Severity
from policykit.rules.kueue import metadata_values
from policykit.targets.kueue import versions
from policykit.targets.kueue.names import (
    MIN_PARALLELISM,
    PRIORITY_CLASS,
    QUEUE_NAME,
    SLICE_CONSTRAINTS,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    TARGET_NAME,
    TOPOLOGY_KEYS,
)

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
      labels:
        kueue.x-k8s.io/queue-name: research
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = """\
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
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

_SERVING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
"""Their pods serve without the others, so each may be admitted by its own label (`pod_webhook.go`, 0.19)."""
_PROVISIONING = "provreq.kueue.x-k8s.io/"
"""Annotations that become parameters of a ProvisioningRequest."""
_OF_OBJECTS = (MIN_PARALLELISM,)
"""Annotations of the object that Kueue admits, and those of its pods."""
_REQUESTS = (*TOPOLOGY_KEYS, SLICE_TOPOLOGY, SLICE_SIZE, SLICE_CONSTRAINTS)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controller/jobframework` and `pkg/controller/jobs` (0.9 to 0.19)."""
    if manifest.read_as or not words(manifest.data).begin(("kueue.x-k8s.io/",)):
        return
    if left_alone := tuple(_on_selected_cluster(manifest)):
        yield from left_alone
        return
    yield from _on_cron_job(manifest)
    seen: set[Path] = set()
    there = pod_sets(manifest.data)
    if there and manifest.kind != "CronJob":
        yield from metadata_values.check(manifest, context.cluster)
    for pod_set in there:
        for found in _of_pod_set(manifest, pod_set, context):
            if found.path not in seen:
                seen.add(found.path)
                yield found


def _of_pod_set(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Violation]:
    places = queues.places(manifest.data, pod_set, TARGET_NAME)
    if not places or places[0][-2:-1] != ("labels",):
        return
    labels, pods = places[0][:-1], pod_set.places
    if (*(pods.get("labels") or ()), QUEUE_NAME) not in places:
        yield from _on_pods(manifest, pod_set, labels)
    have = versions.release_of(context.cluster)
    for place in dict.fromkeys(((*labels[:-1], "annotations"), pods.get("annotations"))):
        if place and (have is None or have >= versions.LABEL_ONLY):
            yield from _queue_annotation(manifest, place, labels, sure=have is not None)
    yield from _priority_annotation(manifest, (*labels[:-1], "annotations"), labels)
    yield from _topology_elsewhere(manifest, pod_set, (*labels[:-1], "annotations"))
    yield from _as_labels(manifest, labels, _OF_OBJECTS)
    yield from _as_labels(manifest, pods.get("labels"), _REQUESTS)
    if QUEUE_NAME in mapping(lookup(manifest.data, labels)):
        yield from _provisioning_elsewhere(manifest, pod_set, (*labels[:-1], "annotations"))


_OF_JOBS: Path = ("spec", "jobTemplate", "metadata", "labels")


def _on_cron_job(manifest: Manifest) -> Iterator[Violation]:
    """Kueue admits the Jobs, which get the labels of the template."""
    queue = manifest.labels.get(QUEUE_NAME)
    if (manifest.group, manifest.kind) != ("batch", "CronJob") or not queue or is_placeholder(queue):
        return
    if QUEUE_NAME not in mapping(lookup(manifest.data, _OF_JOBS)) and not manifest.partial:
        yield Violation(
            ("metadata", "labels", QUEUE_NAME),
            f"queue {queue} is on the CronJob, not on the Jobs that Kueue admits",
            f"move it to {dotted(_OF_JOBS)}",
            Severity.WARNING,
            key=True,
        )


def _on_selected_cluster(manifest: Manifest) -> Iterator[Violation]:
    """Kueue leaves the job alone, but its webhook suspends it; one with rayClusterSpec it refuses (PK004).

    Sources: `rayjob_webhook.go` of Kueue (0.9 to 0.19), `ValidateRayJobSpec` of KubeRay (1.3 to 1.7).
    """
    queue = manifest.labels.get(QUEUE_NAME)
    spec = mapping(manifest.data.get("spec"))
    selects = spec.get("clusterSelector") and not spec.get("rayClusterSpec")
    if (manifest.group, manifest.kind) != ("ray.io", "RayJob") or not selects or not queue:
        return
    yield Violation(
        ("metadata", "labels", QUEUE_NAME),
        f"queue {queue} is on a RayJob that clusterSelector sends to a cluster: Kueue suspends it and never "
        "admits it, and KubeRay runs no suspended one",
        f"delete {QUEUE_NAME} here: the RayCluster may name a queue",
        Severity.WARNING,
        key=True,
    )


def _of_another_queue(manifest: Manifest, pod_set: PodSet, own: Mapping[str, str]) -> Iterator[Violation]:
    """Kueue gates the pods by their own label, and admits them by that of the object."""
    value, queue = pod_set.labels.get(QUEUE_NAME), own.get(QUEUE_NAME)
    place = pod_set.places.get("labels")
    if (
        place
        and value
        and queue
        and value != queue
        and not is_placeholder(value)
        and not is_placeholder(queue)
    ):
        yield Violation(
            (*place, QUEUE_NAME),
            f"the pods name queue {value}, but the {manifest.kind} that Kueue admits names {queue}: "
            "the pods may stay gated",
            f"delete {QUEUE_NAME} from the pods",
            Severity.WARNING,
            key=True,
        )


def _on_pods(manifest: Manifest, pod_set: PodSet, labels: Path) -> Iterator[Violation]:
    """Labels of the job, on its pods instead; beside those of the job they mean nothing."""
    if manifest.kind in _SERVING:
        return
    own = pairs(lookup(manifest.data, labels))
    yield from _of_another_queue(manifest, pod_set, own)
    place = pod_set.places.get("labels")
    for key, what in ((QUEUE_NAME, "queue"), (PRIORITY_CLASS, "priority class")):
        value = pod_set.labels.get(key)
        if place and value and key not in own and QUEUE_NAME not in own and not is_placeholder(value):
            yield Violation(
                (*place, key),
                f"{what} {value} is on the pods, not on the {manifest.kind} that Kueue admits",
                f"move {key} to {dotted(labels)}",
                Severity.WARNING,
                key=True,
            )


def _queue_annotation(manifest: Manifest, place: Path, labels: Path, *, sure: bool) -> Iterator[Violation]:
    """Releases before 0.15 read it, so it is a mistake for sure only where the policy states a release."""
    value = mapping(lookup(manifest.data, place)).get(QUEUE_NAME)
    if isinstance(value, str) and value and not is_placeholder(value):
        yield Violation(
            (*place, QUEUE_NAME),
            f"queue {value} is an annotation, which Kueue does not read since {versions.LABEL_ONLY}",
            f"make it a label, in {dotted(labels)}",
            None if sure else Severity.WARNING,
            key=True,
        )


def _priority_annotation(manifest: Manifest, place: Path, labels: Path) -> Iterator[Violation]:
    value = mapping(lookup(manifest.data, place)).get(PRIORITY_CLASS)
    if isinstance(value, str) and value and PRIORITY_CLASS not in mapping(lookup(manifest.data, labels)):
        yield Violation(
            (*place, PRIORITY_CLASS),
            f"priority class {value} is an annotation, which Kueue does not read",
            f"make it a label, in {dotted(labels)}",
            Severity.WARNING,
            key=True,
        )


def _topology_elsewhere(manifest: Manifest, pod_set: PodSet, place: Path) -> Iterator[Violation]:
    wanted = pod_set.places.get("annotations")
    if not wanted or wanted == place:
        return
    for key in _REQUESTS:
        if key in mapping(lookup(manifest.data, place)):
            yield Violation(
                (*place, key),
                f"{key} is on the {manifest.kind}, but Kueue reads it on the pod template",
                f"move it to {dotted(wanted)}",
                key=True,
            )


def _as_labels(manifest: Manifest, place: Path | None, keys: Sequence[str]) -> Iterator[Violation]:
    """Annotations among the labels."""
    found = mapping(lookup(manifest.data, place)) if place else {}
    for key in keys:
        if place and key in found and key not in mapping(lookup(manifest.data, (*place[:-1], "annotations"))):
            yield Violation(
                (*place, key),
                f"{key} is a label, but Kueue reads it as an annotation",
                f"move it to {dotted((*place[:-1], 'annotations'))}",
                Severity.WARNING,
                key=True,
            )


def _provisioning_elsewhere(manifest: Manifest, pod_set: PodSet, place: Path) -> Iterator[Violation]:
    """Source: `NewWorkload` of `pkg/controller/jobframework` (0.9 to 0.19)."""
    there = pod_set.places.get("annotations")
    if not there or there == place or manifest.kind in _SERVING:
        return
    own = mapping(lookup(manifest.data, place))
    for key in pod_set.annotations:
        if key.startswith(_PROVISIONING) and key not in own:
            yield Violation(
                (*there, key),
                f"{key} is on the pod template, but Kueue reads it on the {manifest.kind}",
                f"move it to {dotted(place)}",
                Severity.WARNING,
                key=True,
            )


RULE = Rule(
    code="PK924",
    name="misplaced-kueue-metadata",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("kueue",),
)
