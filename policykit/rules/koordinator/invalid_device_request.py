"""A pod requests devices in a way that Koordinator cannot serve.

koordinator.sh/gpu is a percentage of a card, and only some resources can be requested together:
anything else leaves the pod pending. Annotations that control device allocation must be valid JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.review import Review
from policykit.targets import DEFAULT_SCHEDULER, target_name_of
from policykit.targets.koordinator.names import OLD_RESOURCES, TARGET_NAME

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


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Koordinator's pods, and pods for no particular scheduler that use its resources or metadata."""
    pod_set = review.pod_set
    target_name = target_name_of(pod_set.scheduler_name, context.cluster)
    if target_name != TARGET_NAME and not _mentions_koordinator(review):
        return
    from policykit.rules.koordinator import device_metadata, device_requests
    from policykit.targets.koordinator import versions

    requests = device_requests.device_requests(pod_set)
    if pod_set.scheduler_name not in ("", DEFAULT_SCHEDULER) and target_name not in (TARGET_NAME, None):
        yield from device_metadata.other_scheduler(pod_set, requests)
        return
    newest = versions.possible_versions(context.cluster)[-1]
    yield from device_requests.check(requests, device_metadata.counted(pod_set), newest)
    yield from device_metadata.check(review, requests, context.cluster)


def _mentions_koordinator(review: Review) -> bool:
    """Whether a resource, a label or an annotation is Koordinator's."""
    pod_set = review.pod_set
    for keys in (pod_set.labels, pod_set.annotations, review.requests):
        for key in keys:
            if _DOMAIN in key.partition("/")[0] or key in OLD_RESOURCES:
                return True
    return False


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
