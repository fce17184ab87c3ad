"""The QoS class of pods conflicts with their priority or with their requests.

Koordinator's webhook refuses BE with priority prod or none, LSR with any priority but prod, and
LSR or LSE without whole cores. A misspelt class counts as none, and a BE pod that requests
ordinary cpu and memory takes resources from guaranteed pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest, Words, words
from policykit.model.severity import Severity

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
  labels:
    koordinator.sh/qosClass: BE
spec:
  schedulerName: koord-scheduler
  priorityClassName: koord-prod
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests: {kubernetes.io/batch-cpu: 4000, kubernetes.io/batch-memory: 8Gi}
      limits: {kubernetes.io/batch-cpu: 4000, kubernetes.io/batch-memory: 8Gi}
"""

GOOD = BAD.replace("koord-prod", "koord-batch")

_PROFILE = "ClusterColocationProfile"
_KEYS = ("koordinator.sh/", "kubernetes.io/batch-", "koord-batch", "koord-mid")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Pods, and the ClusterColocationProfiles that set their class."""
    if manifest.read_as:
        return
    if manifest.kind == _PROFILE:
        if manifest.group == "config.koordinator.sh":
            from policykit.rules.koordinator import qos_classes

            yield from qos_classes.profile(manifest, context.cluster)
    elif manifest.kind and _mentions(words(manifest.data)):
        from policykit.rules.koordinator import qos_classes

        for pod_set in pod_sets(manifest.data):
            yield from qos_classes.pods(pod_set, context.cluster, partial=manifest.partial)


def _mentions(written: Words) -> bool:
    return written.begin(_KEYS) or not written.texts.isdisjoint(_KEYS)


RULE = Rule(
    code="PK612",
    name="qos-priority-conflict",
    severity=Severity.ERROR,
    subject=Manifest,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
