"""A pod asks Koordinator for devices in a way that it does not serve.

koordinator.sh/gpu counts percents of a card, and only some resources go together: anything else
leaves the pod pending. Annotations that say how devices are chosen are JSON without comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, system_of

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  schedulerName: koord-scheduler
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      limits:
        koordinator.sh/gpu-core: 50
"""

GOOD = BAD + "        koordinator.sh/gpu-memory-ratio: 50\n"

_DOMAIN = "koordinator.sh"
_OLD = frozenset(
    f"kubernetes.io/{name}" for name in ("gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "rdma", "fpga")
)
"""Resources of Koordinator's before they had a domain of their own."""
_SYSTEM = "koordinator"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Pods of Koordinator's, and pods that no other scheduler is named for and that use its words."""
    pod_set = review.pod_set
    system = system_of(pod_set.scheduler_name, context.cluster)
    if system != _SYSTEM and not _speaks(review):
        return
    from policykit.targets.koordinator.checks import asked, devices, metadata, pod_annotations, releases

    found = asked.asked(pod_set)
    if pod_set.scheduler_name not in ("", DEFAULT_SCHEDULER) and system not in (_SYSTEM, None):
        yield from metadata.elsewhere(pod_set, found)
        return
    newest = releases.possible(context.cluster)[-1]
    yield from devices.faults(found, metadata.counted(pod_set), newest)
    yield from pod_annotations.faults(pod_set)
    yield from metadata.faults(review, found, context.cluster)


def _speaks(review: Review) -> bool:
    """Uses a word of Koordinator's: a resource, a label or an annotation."""
    pod_set = review.pod_set
    words = (*pod_set.labels, *pod_set.annotations, *_resources(review))
    return any(_DOMAIN in word.partition("/")[0] or word in _OLD for word in words)


def _resources(review: Review) -> tuple[str, ...]:
    return tuple(name for name in review.requests if isinstance(name, str))


RULE = Rule(
    code="PK611",
    name="invalid-device-request",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
