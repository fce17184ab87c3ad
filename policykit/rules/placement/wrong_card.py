"""A pod names a card model that no pool of the policy has.

The product label carries the exact name the device reports. Marketing names, names of a cloud
and names of other clusters match nothing, and the pod stays Pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from policykit.catalogue import cards as catalogue
from policykit.linter.rule import Context, Rule, Violation
from policykit.model.severity import Applicability, Severity
from policykit.placement.review import Review
from policykit.placement.stated import Stated, known_values, stated
from policykit.rules.placement.selection_resource_mismatch import other_suffix

BAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  nodeSelector:
    nvidia.com/gpu.product: H20
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
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
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          preference:
            matchExpressions:
              - {key: maip.mxsf.io/node.usage, operator: In, values: [training]}
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H20
  tolerations:
    - {key: maip.mxsf.io/node.usage, operator: Equal, value: training, effect: NoSchedule}
    - {key: maip.mxsf.io/node.usage, operator: Equal, value: hybrid, effect: NoSchedule}
    - {key: nvidia.com/gpu.product, operator: Exists, effect: NoSchedule}
  containers:
    - name: main
      image: registry.example/train:1
      resources:
        limits:
          nvidia.com/gpu: 1
"""


def check(review: Review, context: Context) -> Iterator[Violation]:
    """Speaks where none of the values of a selection, or none of the tolerated ones, is a pool's."""
    cluster = review.cluster
    if cluster is None:
        return
    keys = tuple(dict.fromkeys(card.product_key for card in cluster.cards.values() if card.product_key))
    for key in keys:
        known = known_values(cluster, key)
        places = stated(review, key)
        for selects in (True, False):
            mine = [place for place in places if place.selects is selects]
            if mine and not any(place.value in known for place in mine):
                for place in mine:
                    if not other_suffix(place.value, known):
                        yield _violation(key, place, known)


def _violation(key: str, place: Stated, known: frozenset[str]) -> Violation:
    verb = "selects" if place.selects else "tolerates"
    has = ", ".join(sorted(known)) or "none"
    return Violation(
        place.path,
        f"{verb} card {place.value!r} ({key}), but the pools have {has}",
        _advice(place.value, known),
    )


def _advice(value: str, known: frozenset[str]) -> str:
    candidates = [product.product for product in catalogue.candidates(value)]
    here = [candidate for candidate in candidates if candidate in known]
    if len(here) == 1:
        return f"write {here[0]}"
    if here:
        return f"one of {', '.join(here)} may be meant"
    if candidates:
        return f"as a label it would be {' or '.join(candidates)}, which no pool of the policy has"
    return "copy the value from a node: kubectl get nodes -L the label's key"


RULE = Rule(
    code="PK106",
    name="wrong-card",
    severity=Severity.ERROR,
    subject=Review,
    doc=__doc__ or "",
    bad=BAD,
    good=GOOD,
    check=check,
    needs_policy=True,
    fix=Applicability.UNSAFE,
    silences=frozenset({"PK101", "PK110", "PK125", "PK203"}),
)
