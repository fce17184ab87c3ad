"""Metadata of Kueue's groups of plain pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import pod_sets
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets.kueue.names import POD_GROUP, POD_GROUP_TOTAL, QUEUE_NAME

_WHOLE = re.compile(r"[1-9][0-9]*\Z")
_POD = "the pod is in group {}, but its annotation"
_PODS = "pods are in group {}, but their annotation"
_REPLACED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
"""Kinds of apps that make a pod again that was deleted."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controller/jobs/pod/pod_webhook.go`, `removeExcessPods` (0.9 to 0.19)."""
    if manifest.kind == "Pod" and not manifest.group:
        place: Path = ("metadata",)
        yield from _stated(manifest.labels, manifest.annotations, place, place, manifest.partial, _POD)
    elif not manifest.partial and manifest.group != "leaderworkerset.x-k8s.io":
        # An object with a queue of its own gets the group from Kueue.
        for each in pod_sets(manifest.data) if not manifest.labels.get(QUEUE_NAME) else ():
            if each.labels.get(QUEUE_NAME) and not each.stored:
                yield from _of_template(manifest, each)


def _of_template(manifest: Manifest, pod_set: PodSet) -> Iterator[Violation]:
    label, annotation = pod_set.place("labels", POD_GROUP), pod_set.place("annotations", POD_GROUP_TOTAL)
    found = [*_stated(pod_set.labels, pod_set.annotations, label[:-2], annotation[:-2], False, _PODS)]
    yield from found
    total, replicas = pod_set.annotations.get(POD_GROUP_TOTAL, ""), pod_set.replicas
    if found or manifest.kind not in _REPLACED or not _WHOLE.match(total) or not replicas:
        return
    if replicas > int(total) and pod_set.labels.get(POD_GROUP):
        yield Violation(
            annotation,
            f"{POD_GROUP_TOTAL} is {total}, but the {manifest.kind} has {replicas} pods: Kueue deletes those "
            "beyond it, and they are made again",
            "set it to the number of pods, or state the queue on the object instead",
            Severity.WARNING,
        )


def _stated(
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    of_labels: Path,
    of_annotations: Path,
    partial: bool,
    lacking: str,
) -> Iterator[Violation]:
    """The webhook wants both or none. The name may be an annotation, too, behind a feature gate of 0.19."""
    group, total = labels.get(POD_GROUP), annotations.get(POD_GROUP_TOTAL)
    if group and total is None and not partial:
        yield Violation(
            (*of_labels, "labels", POD_GROUP),
            f"{lacking.format(group)} {POD_GROUP_TOTAL} is missing",
            "set it to the number of pods in the group, quoted, the same in every pod",
        )
    elif total is not None and not group and POD_GROUP not in annotations and not partial:
        yield Violation(
            (*of_annotations, "annotations", POD_GROUP_TOTAL),
            f"{POD_GROUP_TOTAL} is {total}, but the label {POD_GROUP} is missing",
            "set it to the name of the pod's group",
        )
    elif total is not None and not is_placeholder(total) and not _WHOLE.match(total):
        yield Violation(
            (*of_annotations, "annotations", POD_GROUP_TOTAL),
            f"{POD_GROUP_TOTAL} is {total!r}, not a whole number above 0",
            "write the number of pods in the group, quoted",
        )
