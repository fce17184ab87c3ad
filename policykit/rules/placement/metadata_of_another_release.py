"""A label or annotation is read only by other releases of its system.

A scheduler silently ignores metadata that it does not know: the pod is placed as if it had none. The
release is the one that the policy states under `targets`; where it states none, only what no supported
release reads is reported. Karpenter renamed karpenter.sh/do-not-evict in 0.33: pods that have only the old
annotation are evicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.kube import podsets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.targets import TARGETS, releases
from policykit.targets.releases import MissingFact

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    runai/queue: research
spec:
  schedulerName: kai-scheduler
  containers:
  - name: main
    image: registry.example/train:1
"""

GOOD = BAD.replace("runai/queue", "kai.scheduler/queue")


_OF_RUN_AI = "runai/queue"
"""The product Run:ai still reads it, on pods of its scheduler and on namespaces."""
_KEPT = "karpenter.sh/do-not-disrupt"
_RENAMED = ("karpenter.sh/do-not-consolidate", "karpenter.sh/do-not-evict")
"""Source: `pkg/apis/v1alpha5/labels.go` of Karpenter, which 0.33 removed (v0.32 to 1.14)."""


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Of the object and of each pod template."""
    places: dict[Path, tuple[str, Mapping[str, str]]] = {
        ("metadata", "labels"): ("label", manifest.labels),
        ("metadata", "annotations"): ("annotation", manifest.annotations),
    }
    schedulers: set[str] = set()
    for pod_set in podsets.pod_sets(manifest.data):
        schedulers.add(pod_set.scheduler_name)
        places[pod_set.place("labels")] = ("label", pod_set.labels)
        places[pod_set.place("annotations")] = ("annotation", pod_set.annotations)
    for path, (what, entries) in places.items():
        if what == "annotation" and _KEPT not in entries:
            for old in filter(entries.__contains__, _RENAMED):
                message = f"Karpenter reads {old} only before 0.33"
                yield Violation((*path, old), message, f"write {_KEPT} beside it, or instead of it", key=True)
        for each in releases.missing(what, entries, context.cluster):
            if each.fact.name == _OF_RUN_AI and schedulers <= {"runai-scheduler"}:
                continue
            if _is_read_by_another(each, schedulers, context):
                continue
            yield Violation((*path, each.fact.name), each.reason, each.help, key=True)


def _is_read_by_another(missing: MissingFact, schedulers: set[str], context: Context) -> bool:
    """Whether the key is also one of another system, which the policy has or which may place the pods."""
    stated = context.cluster.targets if context.cluster else {}
    return any(
        target.name in stated or schedulers <= {*target.schedulers, "default-scheduler"}
        for target in TARGETS
        if target != missing.target and any(key.key == missing.fact.name for key in target.keys)
    )


RULE = Rule(
    code="PK132",
    name="metadata-of-another-release",
    severity=Severity.WARNING,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    substrings=(
        "koordinator.sh/",
        "volcano.sh/",
        "yunikorn.apache.org/",
        "karpenter.sh/do-not-",
        "kueue.x-k8s.io/",
        "runai/queue",
        "scheduler.alpha.kubernetes.io/",
        "disableStateAware",
        "pod-group.scheduling.sigs.k8s.io",
    ),
)
