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
from policykit.placement.stated import Stated, known_everywhere, known_values, other_suffix, stated

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
    """An unknown value beside a right one speaks only where another card of the pools was meant."""
    cluster = review.cluster
    if cluster is None or review.device_stack:
        return
    for key in dict.fromkeys(card.product_key for card in cluster.cards.values() if card.product_key):
        if not known_everywhere(cluster, key):
            continue
        known = known_values(cluster, key)
        places = stated(review, key)
        for selects in (True, False):
            mine = [place for place in places if place.selects is selects]
            right = {place.value for place in mine} & known
            for place in mine:
                if place.value in known or other_suffix(place.value, known):
                    continue
                if not right or not set(_meant(place.value, known)) <= right:
                    yield _violation(key, place, known)


def _violation(key: str, place: Stated, known: frozenset[str]) -> Violation:
    verb = "selects" if place.selects else "tolerates"
    has = ", ".join(sorted(known)) or "none"
    return Violation(
        place.path,
        f"{verb} card {place.value!r} ({key}), but the pools have {has}",
        _advice(key, place.value, known),
    )


def _meant(value: str, known: frozenset[str]) -> list[str]:
    """Values of the pools that this one may stand for."""
    cards = catalogue.candidates(value)
    return [v for card in cards for v in (card.product, *card.aliases, card.native_value) if v in known]


def _advice(key: str, value: str, known: frozenset[str]) -> str:
    here = _meant(value, known)
    if len(here) == 1:
        return f"write {here[0]}"
    if here:
        return f"one of {', '.join(here)} may be meant"
    candidates = [card.product for card in catalogue.candidates(value)]
    if candidates:
        return f"as a label it would be {' or '.join(candidates)}, which no pool of the policy has"
    return f"copy the value from a node: kubectl get nodes -L {key}"


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
