"""A pod requests more than any node of its pools has.

The scheduler needs one node that fits the whole pod. If even the largest node is too small, the
pod stays pending, and no autoscaler can help. Virtual cards of HAMi and Volcano that one container requests
come from different cards, however many pods share a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.gates.shared_cards import crowded
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.pool import Shape
from policykit.model.quantity import amount_text
from policykit.model.severity import Severity
from policykit.model.shared_cards import NAMES
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review

BAD = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - {key: maip.mxsf.io/node.usage, operator: In, values: [training, hybrid]}
            preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
        tolerations:
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
        - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
        - {key: nvidia.com/gpu.product, operator: Equal, value: NVIDIA-H20, effect: NoSchedule}
        containers:
        - name: main
          image: registry.example/train:1
          resources:
            limits:
              nvidia.com/gpu: 16
"""

GOOD = BAD.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 8")


def check(review: Review, context: Context) -> Iterator[Violation]:
    yield from _too_large(review)
    if review.cluster and any(pool.sharing.mode in NAMES for pool in review.eligible_pools or ()):
        for found in crowded(review, review.cluster):
            yield Violation(
                request_path(review.pod_set, found.resource),
                found.message("the nodes of its pools"),
                f"request at most {found.cards}, with more memory and cores of each",
                Severity.WARNING,
                follows=frozenset({"PK216", "PK516"}),
            )


def _too_large(review: Review) -> Iterator[Violation]:
    """Compares the request with every node shape of the eligible pools; unknown sizes always fit."""
    shapes = [s for pool in review.eligible_pools or () for s in pool.shapes if s.maximum != 0]
    if (
        not shapes
        or review.selects_unlisted_machine
        or any(not _insufficient(shape, review) for shape in shapes)
    ):
        return
    pools = ", ".join(pool.name for pool in review.eligible_pools or ())
    for resource in sorted(review.requests):
        amount = review.requests[resource]
        largest = _largest(shapes, resource)
        if largest is not None and amount > largest:
            yield Violation(
                request_path(review.pod_set, resource),
                f"one pod requests {amount_text(resource, amount)} {resource}, "
                f"but the largest node of its pools has {amount_text(resource, largest)}",
                f"request less per pod and use more pods (pools {pools})",
            )
            return
    lacking = sorted({resource for shape in shapes for resource in _insufficient(shape, review)})
    yield Violation(
        request_path(review.pod_set, lacking[0]),
        f"no node of its pools has enough {' and '.join(lacking)} for one pod",
        f"request less of them per pod (pools {pools})",
    )


def _insufficient(shape: Shape, review: Review) -> list[str]:
    """Resources of which an empty node has less than one pod requests."""
    allocatable = shape.allocatable
    return [r for r, amount in review.requests.items() if r in allocatable and amount > allocatable[r]]


def _largest(shapes: Sequence[Shape], resource: str) -> int | None:
    """The largest amount on one node; None if it is unknown for a shape."""
    if any(resource not in shape.allocatable for shape in shapes):
        return None
    return max(shape.allocatable[resource] for shape in shapes)


RULE = Rule(
    code="PK203",
    name="exceeds-node",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
