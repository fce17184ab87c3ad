"""A workload with cards requests neither cpu nor memory.

The scheduler then reserves no cpu and no memory for it and can overload the node. If memory runs
short, such pods (BestEffort despite their cards) are evicted first.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.resources import is_card, resource
from policykit.kube.placeholders import is_placeholder
from policykit.kube.requests import containers
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Severity
from policykit.placement.card_requests import request_path
from policykit.placement.owner import owner
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      limits:
        nvidia.com/gpu: 1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: main
    image: registry.example/train:1
    resources:
      requests:
        cpu: 8
        memory: 64Gi
      limits:
        nvidia.com/gpu: 1
"""

_COMPUTE = ("cpu", "memory")
_WHOLE_NODES = frozenset({"google.com/tpu"})
"""Cards per node: a pod with all of them shares the node with no other card workload."""
_FILLED = frozenset({"InferenceService", "ScheduledSparkApplication", "SparkApplication", "SparkConnect"})
"""Kinds whose controllers set default cpu and memory.

Source: kserve pkg/apis/serving/v1beta1 setResourceRequirementDefaults; Spark's executors have
spark.executor.memory and cores, by default 1g and 1.
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports each pod set once. Limits and defaults of the policy's LimitRanges count as requests."""
    cards = [name for name in review.card_resources if name not in _WHOLE_NODES]
    if not cards or review.manifest.partial or review.pod_set.stored or review.is_system_pod:
        return
    if _has_defaults(review) or any(_states_compute(resources) for resources in _resources(review)):
        return
    if any(device.amount is None or resource(device.resource) is None for device in review.pod_set.devices):
        return
    if not any(True for _ in containers(review.pod_set.spec)) or review.may_still_change:
        return
    yield Violation(
        request_path(review.pod_set, cards[0]),
        f"requests {review.requests[cards[0]]} {cards[0]}, but neither cpu nor memory:"
        " the pod is BestEffort and evicted first",
        "add requests for cpu and memory, such as the share of the node that each card has",
        key=True,
    )


def _resources(review: Review) -> Iterator[object]:
    yield review.pod_set.spec.get("resources")
    for _, _, container in containers(review.pod_set.spec):
        yield container.get("resources")
    for device in review.pod_set.devices:
        yield from _amounts_beside(review.manifest.data, device.path)


def _amounts_beside(data: object, path: Path) -> Iterator[object]:
    """Amounts next to a device in a custom kind, under requests or limits or at the same level."""
    for up in (1, 2, 3):
        found = lookup(data, path[:-up])
        if isinstance(found, dict):
            yield found
            yield {"requests": found}


def _states_compute(resources: object) -> bool:
    """Whether cpu or memory is set, including placeholders and resources of Koordinator and Volcano."""
    if not isinstance(resources, dict):
        # A placeholder may contain anything.
        return resources is not None
    sides = [resources.get(side) for side in ("requests", "limits")]
    if any(side is not None and not isinstance(side, dict) for side in sides):
        return True
    names = [str(name) for side in sides for name in (side or ())]
    return any(is_placeholder(name) or _is_compute(name) for name in names)


def _is_compute(name: str) -> bool:
    """Excludes card memory such as volcano.sh/gpu-memory."""
    return name in _COMPUTE or (name.endswith(("-cpu", "-memory")) and not is_card(name))


def _has_defaults(review: Review) -> bool:
    """Whether a controller, or the policy in this namespace, sets defaults."""
    if owner(review.manifest, review.pod_set).kind in _FILLED:
        return True
    namespace = review.manifest.namespace or review.namespace
    quotas = review.cluster.quotas if review.cluster else ()
    return any(quota.namespace == namespace and quota.containers is not None for quota in quotas)


RULE = Rule(
    code="PK205",
    name="missing-requests",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
)
