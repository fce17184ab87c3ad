"""A pod selects nodes with one card and requests another: vendor, sharing mode or host differ.

The selected nodes do not offer the requested resource, so no node satisfies both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.catalogue import cards as catalogue
from policykit.catalogue import labels, resources
from policykit.linter.rule import Context, Rule, Violation
from policykit.manifests.path import Path
from policykit.model.severity import Severity
from policykit.placement.label_values import REQUIRED_TERMS, label_values
from policykit.placement.policy_labels import known_values, same_card_value
from policykit.placement.review import Review

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: infer
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H20-SHARED
  tolerations:
    - {operator: Exists, effect: NoSchedule}
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
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          preference:
            matchExpressions:
              - {key: maip.mxsf.io/node.usage, operator: In, values: [inference]}
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H20
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Equal, value: inference, effect: NoSchedule}
    - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
    - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
  containers:
    - name: main
      image: registry.example/infer:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""

_ARCH = "kubernetes.io/arch"


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Three checks: the vendor of labels, the sharing suffix and the host architecture."""
    if review.card_resources and review.cluster is not None:
        yield from _vendors(review)
        yield from _suffixes(review)
        yield from _architecture(review)


def _vendors(review: Review) -> Iterator[Violation]:
    makers = {maker for name in review.card_resources for maker in _vendors_of(name)}
    if not makers or "" in makers:
        return
    for key, values, path in _keys(review):
        maker = "" if labels.of_any_card(key) else _hardware(labels.discovery(key))
        named = any(value.lower() in makers for value in values)  # as xpu_type of ACK names them
        if maker and maker not in makers and not named and _belongs_to(maker, key, values):
            yield Violation(
                path,
                f"selects nodes by {key}, a label of {_name(maker)} cards,"
                f" but requests {', '.join(review.card_resources)}",
                "select and request cards of the same vendor",
            )


def _belongs_to(maker: str, key: str, values: Sequence[str]) -> bool:
    """Whether the label is the vendor's; for a key without a domain (accelerator), by its value."""
    return "/" in key or any(value.lower().startswith(f"{maker}-") for value in values)


def _vendors_of(resource: str) -> Iterator[str]:
    """Vendors whose cards offer a resource; an empty one means any vendor or an unknown one."""
    known = resources.resource(resource)
    for vendor in (known.offered_by or (known.vendor,)) if known is not None else ("",):
        yield _hardware(vendor)


def _hardware(vendor: str) -> str:
    known = catalogue.vendor(vendor)
    return known.hardware if known is not None else ""


def _name(vendor: str) -> str:
    known = catalogue.vendor(vendor)
    return known.name if known is not None else vendor


def _suffixes(review: Review) -> Iterator[Violation]:
    cluster = review.cluster
    if cluster is None:
        return
    for key in dict.fromkeys(card.product_key for card in cluster.cards.values() if card.product_key):
        known = known_values(cluster, key)
        for place in label_values(review, key):
            there = same_card_value(place.value, known)
            if place.selects and there:
                yield Violation(
                    place.path,
                    f"selects {place.value}, but the cards of the pools are {there}",
                    "the suffix encodes how cards are shared or partitioned: use the value of the pool",
                )


def _architecture(review: Review) -> Iterator[Violation]:
    cluster = review.cluster
    if cluster is None or not review.eligible_pools:
        return
    hosts = {card.arch for pool in review.eligible_pools if (card := cluster.card_of(pool)) is not None}
    if len(hosts) != 1 or "" in hosts:
        return
    for place in label_values(review, _ARCH):
        if place.selects and place.value not in hosts:
            yield Violation(
                place.path,
                f"selects {_ARCH} {place.value}, but nodes with the requested card are {min(hosts)}",
                f"build the image for {min(hosts)} and select that architecture",
            )


def _keys(review: Review) -> Iterator[tuple[str, tuple[str, ...], Path]]:
    for key, value in review.affinity.selector.items():
        yield key, (value,), review.pod_set.place("nodeSelector", key)
    for term_at, term in enumerate(review.affinity.required or ()):
        for at, requirement in enumerate(term.expressions):
            if requirement.operator in ("In", "Exists", "Gt", "Lt"):
                path = (*REQUIRED_TERMS, term_at, "matchExpressions", at, "key")
                yield requirement.key, requirement.values, review.pod_set.place("affinity", *path)


RULE = Rule(
    code="PK126",
    name="selection-resource-mismatch",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    silences=frozenset({"PK101", "PK102", "PK110", "PK203"}),
)
