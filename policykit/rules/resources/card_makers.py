"""Cards of several makers in one pod: few nodes have both."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue.resources import resource
from policykit.kube.placeholders import is_placeholder
from policykit.linter.rule import Violation
from policykit.model.severity import Severity
from policykit.placement.card_requests import request_path
from policykit.placement.review import Review
from policykit.targets import target_of

_DEVICES = frozenset({"card", "shared", "partition"})
_BESIDE_OTHERS = "intel-gpu"
"""Graphics of a processor, which nodes have beside other cards."""


def of_two_makers(review: Review) -> Iterator[Violation]:
    """Cards, and slices of them. No finding if a pool has both."""
    makers: dict[str, str] = {}
    for name, amount in review.requests.items():
        known = resource(name) if amount > 0 and not is_placeholder(name) else None
        counted = known is not None and known.role in _DEVICES and known.vendor != _BESIDE_OTHERS
        # The names of a scheduler stand for the cards of any maker.
        if known and counted and target_of(known.vendor) is None:
            makers.setdefault(known.vendor.partition("-")[0], name)
    if len(makers) < 2 or review.manifest.partial:
        return
    one, other = sorted(makers.values())[:2]
    pools = review.cluster.pools if review.cluster else ()
    if not any(one in pool.resources and other in pool.resources for pool in pools):
        yield Violation(
            request_path(review.pod_set, other),
            f"requests {one} and {other}, cards of two makers: the pod waits for a node that has both",
            "request the card that the program uses, and delete the other one",
            Severity.WARNING,
        )
