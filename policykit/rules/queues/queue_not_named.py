"""Pods go to a scheduler that needs the name of their queue, and name none.

Such a scheduler reads the queue from a label of the pod or of the object that makes it. Without the label
it takes a default queue, which exists only if somebody made it; else the pods stay pending. Pods that join a
PodGroup by the annotation `pod-group-name` have the queue of that PodGroup, if they are plain pods or the
annotation `kai.scheduler/skip-podgrouper` of the pods or their object leaves them in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.nearest import one_edit_apart
from policykit.placement.owner import owner
from policykit.placement.review import Review
from policykit.targets import TARGETS, target_name_of, target_of

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  schedulerName: kai-scheduler
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {cpu: 2, memory: 8Gi}
"""

GOOD = BAD.replace("  name: train\n", "  name: train\n  labels: {kai.scheduler/queue: research}\n", 1)

_NAME = "queue"
"""Of such a label, whatever its domain: another rule says which ones a release does not read."""
_GROUP = "pod-group-name"
"""Annotation of a pod that joins a PodGroup."""
_KEPT = "kai.scheduler/skip-podgrouper"
"""Annotation that keeps KAI-Scheduler from moving pods to a group of its own.

Source: `shouldSkipPodGrouper` of its podgrouper (v0.15 on).
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Neither the pods nor their object have the label."""
    pod_set, manifest = review.pod_set, review.manifest
    scheduler = pod_set.scheduler_name
    target = target_of(target_name_of(scheduler, review.cluster)) if scheduler else None
    if target is None or not target.queue_label or manifest.partial or pod_set.stored:
        return
    if _GROUP in pod_set.annotations and (manifest.kind == "Pod" or _is_kept(review)):
        return
    labels = {**manifest.labels, **owner(manifest, pod_set).labels, **pod_set.labels}
    if not any(_is_meant(key, target.queue_label) for key in labels):
        yield Violation(
            pod_set.scheduler_path or pod_set.path,
            f"{scheduler} places the pods, but no label {target.queue_label} names their queue",
            f"add the label {target.queue_label} to the pods or to the {manifest.kind}",
        )


def _is_meant(key: str, label: str) -> bool:
    """A label of the queue, or one that another rule takes for a misspelt one."""
    domain, _, name = key.rpartition("/")
    ours = domain == label.rpartition("/")[0]
    return name == _NAME or (ours and (_NAME in name or one_edit_apart(name, _NAME)))


def _is_kept(review: Review) -> bool:
    holders = (review.manifest, owner(review.manifest, review.pod_set), review.pod_set)
    return any(each.annotations.get(_KEPT) == "true" for each in holders)


RULE = Rule(
    code="PK413",
    name="queue-not-named",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=tuple(sorted(name for target in TARGETS if target.queue_label for name in target.schedulers)),
)
