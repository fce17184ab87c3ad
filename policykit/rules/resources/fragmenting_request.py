"""A pod requests a number of cards that does not divide the cards of a node.

A node with 8 cards fits two pods with 3 cards each; the remaining 2 cards cannot be used by a third.
Such remainders add up over a pool although the cards count as free.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Severity
from policykit.model.shared_cards import NAMES
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review
from policykit.rules.resources.exceeds_node import BAD as _JOB

BAD = _JOB.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 3")

GOOD = _JOB.replace("nvidia.com/gpu: 16", "nvidia.com/gpu: 4")


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports a number that fits on a node of the eligible pools but divides none of their sizes."""
    if review.cluster is None or review.pod_set.per_node or not review.eligible_pools:
        return
    # Parts of virtual cards are of any size.
    whole = [pool for pool in review.eligible_pools if pool.sharing.mode not in NAMES]
    shapes = [shape for pool in whole for shape in pool.shapes if shape.maximum != 0]
    for resource in review.card_resources if shapes else ():
        amount = review.requests[resource]
        sizes = {shape.allocatable.get(resource, 0) for shape in shapes}
        if (
            0 in sizes
            or not any(size >= amount for size in sizes)
            or any(size % amount == 0 for size in sizes)
        ):
            continue
        size = max(sizes)
        divisors = [str(one) for one in range(1, size + 1) if size % one == 0]
        yield Violation(
            request_path(review.pod_set, resource),
            f"requests {amount} {resource}, but nodes have {size}: {size % amount} of them are left over",
            f"request one of {', '.join(divisors)}",
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
