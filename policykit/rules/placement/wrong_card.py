"""A pod selects or tolerates a card model that no pool of the policy has.

The product label contains the exact name that the device reports. Marketing names, names used by
clouds and names from other clusters match nothing, and the pod stays pending. If the cloud offers the
card and the policy may not list every pool (coverage: partial), it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from policykit.catalogue import labels, suggestions
from policykit.linter.rule import Context, Fix, Rule, Violation
from policykit.manifests.memoize import memoize_beside
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.severity import Applicability, Severity
from policykit.placement.eligible_pools import product_keys
from policykit.placement.label_values import LabelValue, label_values, placeholder_uses
from policykit.placement.placement_patches import is_editable
from policykit.placement.policy_labels import is_known_for_every_pool, known_values, same_card_value
from policykit.placement.review import Review

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
    """An unknown value next to a known one is reported only if it stands for another card of the pools."""
    cluster = review.cluster
    if cluster is None or review.is_system_pod or review.selects_unlisted_pool:
        return
    for key in _known_product_keys(cluster):
        known = known_values(cluster, key)
        written = label_values(review, key)
        if all(place.value in known for place in written):
            continue
        open_ended = placeholder_uses(review, key)
        wrong = [
            one
            for one in _wrong(written, known)
            if one.selects not in open_ended and not _may_be_elsewhere(review, one, known)
        ]
        for place in wrong:
            there = not cluster.complete and place.value in labels.provider_values(key)
            severity = Severity.WARNING if there and not _pool_values(place.value, known) else None
            yield _violation(key, place, known)._replace(
                severity=severity, fix=partial(_fix, review, place, wrong, known)
            )


@memoize_beside
def _known_product_keys(cluster: Cluster) -> tuple[str, ...]:
    """Those whose value is known for every pool."""
    return tuple(key for key in product_keys(cluster) if is_known_for_every_pool(cluster, key))


def _may_be_elsewhere(review: Review, place: LabelValue, known: frozenset[str]) -> bool:
    """Whether a daemon serves cards of nodes that the policy need not list."""
    complete = review.cluster is not None and review.cluster.complete
    per_node = review.pod_set.per_node
    return per_node and not complete and not _pool_values(place.value, known)


def _wrong(places: Sequence[LabelValue], known: frozenset[str]) -> Iterator[LabelValue]:
    for selects in (True, False):
        mine = [place for place in places if place.selects is selects]
        right = {place.value for place in mine} & known
        for place in mine:
            if place.value in known or same_card_value(place.value, known):
                continue
            if not right or not set(_pool_values(place.value, known)) <= right:
                yield place


def _fix(review: Review, place: LabelValue, wrong: Sequence[LabelValue], known: frozenset[str]) -> Fix | None:
    """Writes the value of the pools everywhere the pod selects or tolerates the card.

    None if no value or several match: H100 stands for every H100.
    """
    values = _pool_values(place.value, known)
    if len(values) != 1 or not all(
        is_editable(review, f) for f in ("nodeSelector", "affinity", "tolerations")
    ):
        return None
    same = [one for one in wrong if _pool_values(one.value, known) == values]
    written: dict[Path, Path] = {}
    for one in same:
        written.setdefault(one.path[:-1] if isinstance(one.path[-1], int) else one.path, one.path)
    patches = [Patch("replace", path, values[0]) for path in written.values()]
    # A second name of the same card in a list of values is redundant.
    patches += [Patch("remove", one.path) for one in reversed(same) if one.path not in written.values()]
    return Fix(f"write {values[0]}", tuple(patches), Applicability.SAFE)


def _violation(key: str, place: LabelValue, known: frozenset[str]) -> Violation:
    verb = "selects" if place.selects else "tolerates"
    has = ", ".join(sorted(known)) or "none"
    return Violation(
        place.path,
        f"{verb} card {place.value!r} ({key}), but the pools have {has}",
        _advice(key, place.value, known),
    )


def _pool_values(value: str, known: frozenset[str]) -> list[str]:
    """Values of the pools that this value may stand for; a part of a card is no whole one."""
    cards = suggestions.candidates(value)
    _, mig, part = value.partition("-MIG-")
    return [
        v + mig + part
        for card in cards
        for v in (card.product, *card.aliases, card.native_value)
        if v and v + mig + part in known
    ]


def _advice(key: str, value: str, known: frozenset[str]) -> str:
    here = _pool_values(value, known)
    if len(here) == 1:
        return f"write {here[0]}"
    if here:
        return f"it may mean {' or '.join(here)}"
    candidates = [card.product for card in suggestions.candidates(value)]
    if "-MIG-" in value:
        return "select a card that the pools have, or declare sharing: {mode: mig-single} for their pool"
    if value in candidates or value in labels.provider_values(key):
        return "select a card that the pools have, or add a pool with this one to the policy"
    if candidates:
        return f"the label value would be {' or '.join(candidates)}, which no pool of the policy has"
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
    silences=frozenset({"PK101", "PK102", "PK110", "PK125", "PK203"}),
)
