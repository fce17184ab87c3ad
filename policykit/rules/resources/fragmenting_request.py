"""A pod asks for a number of cards that does not divide a node.

Nodes of 8 cards take two pods of 3 and keep 2 cards that a third one cannot use. Such left-overs
add up over a pool, though every number says that cards are free.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review
from policykit.rules.resources.exceeds_node import BAD as _JOB

BAD = _JOB.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 3")

GOOD = _JOB.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 4")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Speaks where the number divides none of the node sizes of M, and fits one of them."""
    if review.cluster is None or review.pod_set.per_node or not review.eligible_pools:
        return
    shapes = [shape for pool in review.eligible_pools for shape in pool.shapes if shape.maximum != 0]
    for resource in review.card_resources:
        asked = review.requests[resource]
        sizes = {shape.allocatable.get(resource, 0) for shape in shapes}
        if 0 in sizes or not any(size >= asked for size in sizes) or any(size % asked == 0 for size in sizes):
            continue
        size = max(sizes)
        good = [str(one) for one in range(1, size + 1) if size % one == 0]
        yield Violation(
            request_path(review.pod_set, resource),
            f"asks for {asked} {resource}, nodes have {size}: {size % asked} of them are left over",
            f"numbers that divide a node: {', '.join(good)}",
        )


RULE = Rule(
    code="PK204",
    name="fragmenting-request",
    severity=Severity.INFO,
    subject=Review,
    doc=__doc__,
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
