"""A pod requests a card without naming the model, and its pools have several models.

The resource name is the same for every model, so a small job can take the largest cards.
Whoever creates a job should name the card model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from policykit.catalogue import labels
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.severity import Severity
from policykit.placement.eligible_pools import product_of
from policykit.placement.label_values import REQUIRED_TERMS
from policykit.placement.placement_patches import candidate_cards
from policykit.placement.review import Review
from policykit.rules.placement.fixes import card_choice, follows_choice, only_card, placement_fix

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}
    - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
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
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H20
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Exists, effect: NoSchedule}
    - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
  containers:
    - name: main
      image: registry.example/train:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Reports a pod if the pools that accept it, or else its eligible pools, have several card models."""
    cluster = review.cluster
    if (
        cluster is None
        or not review.card_resources
        or not review.eligible_pools
        or review.products
        or review.is_system_pod
        or not review.is_final
    ):
        return
    if _names_machine(review):
        return
    pools = review.accepting or review.eligible_pools
    products = sorted({product for pool in pools if (product := product_of(cluster, pool))})
    if len(products) > 1:
        used = (cluster.card_of(pool) for pool in pools)
        keys = sorted({card.product_key for card in used if card is not None and card.product_key})
        allowed = [product_of(cluster, pool) for pool in review.eligible_pools if review.workload]
        first = next((product for product in allowed if product), products[0])
        require = f"require {' or '.join(keys)} In [{first}] in nodeAffinity"
        yield Violation(
            review.pod_set.place("affinity", *REQUIRED_TERMS[:2]),
            f"{', '.join(review.card_resources)} is offered by {len(products)} card models"
            f" ({', '.join(products)}), but the pod names none",
            card_choice(review, context.path)
            or only_card(review, context.path)
            or f"{require}, or list all acceptable models",
            fix=partial(placement_fix, review) if candidate_cards(review) else None,
            follows=_tolerations(cluster, pools) | follows_choice(review, "PK101", "PK103", "PK104"),
        )


def _tolerations(cluster: Cluster, pools: Iterable[Pool]) -> frozenset[str]:
    """PK101 where taints have the product: whoever adds the tolerations names the model."""
    tainted = all(product_of(cluster, pool) in {taint.value for taint in pool.taints} for pool in pools)
    return frozenset({"PK101"}) if tainted else frozenset()


def _names_machine(review: Review) -> bool:
    """Whether every alternative selects machines by type: each type has only one card model."""
    if any(labels.names_machine(key) for key in review.affinity.selector):
        return True
    terms = review.affinity.required or ()
    return bool(terms) and all(
        any(
            expression.operator == "In" and labels.names_machine(expression.key)
            for expression in term.expressions
        )
        for term in terms
    )


RULE = Rule(
    code="PK130",
    name="card-model-not-stated",
    severity=Severity.WARNING,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
)
