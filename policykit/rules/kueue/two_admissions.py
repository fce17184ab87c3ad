"""A workload waits for Kueue and for the queue or gang of another scheduler.

Kueue reserves quota and starts the job, then the other scheduler may hold its pods back in a queue of
its own: the quota is held by pods that do not run, and two systems count what one pod uses. A
topology requested of both can name nodes that do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import PodSet, pod_sets, queues
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping
from policykit.model.severity import Severity
from policykit.targets import target_name_of, target_of
from policykit.targets.kueue.names import QUEUE_NAME, TARGET_NAME

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
        scheduling.volcano.sh/queue-name: research
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = BAD.replace(
    """    metadata:
      annotations:
        scheduling.volcano.sh/queue-name: research
""",
    "",
)


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Once for each of the other system's keys on pods that Kueue admits."""
    if manifest.read_as or QUEUE_NAME not in words(manifest.data).keys:
        return
    seen: set[Path] = set()
    for pod_set in pod_sets(manifest.data):
        named = queues.read(manifest.data, pod_set, TARGET_NAME)
        for path, title in _others(manifest, pod_set, context) if named else ():
            if named and path not in seen:
                seen.add(path)
                yield Violation(
                    path,
                    f"{title} reads {path[-1]}, but Kueue admits the {manifest.kind} to {named.value}",
                    f"leave queue, gang and topology to one of them: remove it, or {QUEUE_NAME}",
                    key=True,
                )


def _others(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[tuple[Path, str]]:
    """Queues and gangs for the scheduler that places the pods."""
    target_name = target_name_of(pod_set.scheduler_name, context.cluster)
    target = target_of(target_name)
    for key in target.keys if target and target_name != TARGET_NAME else ():
        place = (*pod_set.owner, "metadata", key.where) if key.on_owner else pod_set.places.get(key.where)
        if target and place and key.purpose != "device" and key.key in mapping(lookup(manifest.data, place)):
            yield (*place, key.key), target.title


RULE = Rule(
    code="PK927",
    name="two-admissions",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("kueue",),
)
