"""The QoS class of pods does not go with their priority or with what they ask for.

Koordinator's webhook refuses BE with a priority of prod or none, LSR without one of prod, and
LSR or LSE without whole cores. A class that is written otherwise counts as none, and a BE pod
that asks for ordinary cpu and memory takes what guaranteed pods need.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.kube.podsets import pod_sets
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.document import Manifest
from policykit.manifests.words import Words, words
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
_WORDS = ("koordinator.sh/", "kubernetes.io/batch-", "koord-batch", "koord-mid")


def check(manifest: Manifest, context: Context) -> Iterator[Violation]:
    """Pods, and the profiles that give pods their class."""
    if manifest.read_as:
        return
    if manifest.kind == _PROFILE:
        if manifest.group == "config.koordinator.sh":
            from policykit.targets.koordinator.checks import qos

            yield from qos.profile(manifest, context.cluster)
    elif manifest.kind and _mentions(words(manifest.data)):
        from policykit.targets.koordinator.checks import qos

        for pod_set in pod_sets(manifest.data):
            yield from qos.pods(pod_set, context.cluster, partial=manifest.partial)


def _mentions(written: Words) -> bool:
    return written.begin(_WORDS) or not written.texts.isdisjoint(_WORDS)


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
