"""A pod can land on a card with at least twice the card memory it declares.

A small model should not occupy a large card if a smaller card is sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.rule import Context, Rule, Violation
from policykit.model.pool import Card
from policykit.model.quantity import parse
from policykit.model.severity import Severity
from policykit.placement.eligible_pools import is_allowed
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  annotations:
    policykit.io/card-memory: 20Gi
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H20
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}
    - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
  containers:
    - name: main
      image: registry.example/infer:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
  annotations:
    policykit.io/card-memory: 20Gi
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-L20
  containers:
    - name: main
      image: registry.example/infer:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""

_KEY = "policykit.io/card-memory"
_MIB = 1024 * 1024


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Compares the largest card of the accepting pools with the smallest sufficient card."""
    needed = _declared_memory(review)
    if review.cluster is None or not needed or not review.card_resources:
        return
    chosen = max(_cards(review, accepting=True), key=_memory, default=None)
    fitting = [card for card in _cards(review, accepting=False) if _memory(card) >= needed]
    smallest = min(fitting, key=_memory, default=None)
    if chosen is None or smallest is None or _memory(smallest) >= _memory(chosen):
        return
    if needed * 2 <= _memory(chosen):
        yield Violation(
            review.pod_set.place("annotations", _KEY),
            f"needs {needed // _MIB} MiB of card memory, but may land on {chosen.product or chosen.name}"
            f" with {_memory(chosen) // _MIB} MiB",
            f"{smallest.product or smallest.name} has {_memory(smallest) // _MIB} MiB: select that",
        )


def _declared_memory(review: Review) -> int:
    """Declared card memory in bytes; 0 if it is absent or invalid."""
    for entries in (review.pod_set.annotations, review.pod_set.labels, review.manifest.annotations):
        if _KEY in entries:
            quantity = parse(entries[_KEY])
            return quantity.units if quantity is not None else 0
    return 0


def _cards(review: Review, *, accepting: bool) -> Iterator[Card]:
    """Cards with known memory, of the accepting pools or of all pools the workload may use."""
    cluster = review.cluster
    if cluster is None:
        return
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        if card is None or not card.memory_mib or not all(r in pool.resources for r in review.card_resources):
            continue
        if accepting and pool not in review.accepting:
            continue
        if review.workload is None or is_allowed(review.workload, pool):
            yield card


def _memory(card: Card) -> int:
    return (card.memory_mib or 0) * _MIB


RULE = Rule(
    code="PK123",
    name="oversized-card",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
