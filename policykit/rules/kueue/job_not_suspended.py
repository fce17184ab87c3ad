"""A job for Kueue sets suspend to false, or is suspended and names no queue.

Kueue suspends a job when it is created, and starts it when it is admitted. A manifest with suspend:
false starts a waiting job each time it is applied again, until Kueue stops it. A job that is suspended and
names no queue is never started, since Kueue does not manage it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from policykit.kube.podsets import pod_sets, queues
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.document import Manifest, words
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.severity import Applicability, Severity
from policykit.targets.kueue.names import QUEUE_NAME, TARGET_NAME
from policykit.targets.kueue.pods import SUSPEND

BAD = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  suspend: false
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/train:1
"""

GOOD = BAD.replace("  suspend: false\n", "")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Source: `pkg/controller/jobframework/defaults.go` and `reconciler.go` (0.9 to 0.19)."""
    if QUEUE_NAME not in words(manifest.data).keys:
        yield from _never_started(manifest, context)
        return
    seen: set[Path] = set()
    for pod_set in pod_sets(manifest.data):
        named = queues.read(manifest.data, pod_set, TARGET_NAME)
        if named is None or named.path[-3:-1] != ("metadata", "labels"):
            continue
        owner = named.path[:-3]
        path = (*owner, *_field(manifest, pod_set.owner))
        if path not in seen and path != owner and lookup(manifest.data, path) is False:
            seen.add(path)
            yield Violation(
                path,
                f"{dotted(path)} is false, but Kueue suspends the {manifest.kind} until it is admitted",
                "remove it: Kueue sets it",
                fix=partial(_fix, path),
            )


def _never_started(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Where the policy has Kueue: elsewhere somebody may resume the job by hand."""
    cluster = context.cluster
    path = SUSPEND.get(manifest.kind, ())
    if (
        cluster is None
        or TARGET_NAME not in cluster.targets
        or manifest.partial
        or manifest.kind == "CronJob"
    ):
        return
    if path and lookup(manifest.data, path) is True and pod_sets(manifest.data):
        yield Violation(
            path,
            f"{dotted(path)} is true, but the {manifest.kind} names no queue: Kueue does not manage it, and "
            "nothing starts it",
            f"add the label {QUEUE_NAME}, or remove {dotted(path)}",
        )


def _field(manifest: Manifest, owner: Path) -> Path:
    """The field of the kind that is admitted; empty: it has none."""
    data = lookup(manifest.data, owner) if owner else manifest.data
    kind = data.get("kind") if isinstance(data, dict) else None
    return SUSPEND.get(kind, ()) if isinstance(kind, str) else ()


def _fix(path: Path) -> Fix:
    return Fix("remove it", (Patch("remove", path),), Applicability.UNSAFE)


RULE = Rule(
    code="PK928",
    name="job-not-suspended",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=("kueue", "uspend"),
    fix=Applicability.UNSAFE,
)
