"""How the cards of a node are partitioned or shared, from its labels and resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.catalogue.cards import Product, without_suffixes
from policykit.kube.node_label_values import GKE_SHARING
from policykit.model.pool import Amounts
from policykit.namedtuple import NamedTuple
from policykit.policy.presets import GKE_CLIENTS, GKE_SLICE

_MIG = "nvidia.com/mig-"
_SHARED = ".shared"
_REPLICAS = "nvidia.com/gpu.replicas"
_STRATEGY = "nvidia.com/gpu.sharing-strategy"
_COUNT = "nvidia.com/gpu.count"


class CardSharing(NamedTuple):
    """How the cards of a node are shared, and the number of whole cards behind it."""

    product: str
    """Value of the product label without its sharing suffixes."""
    options: Mapping[str, Any] = {}
    """`sharing` of the pool; empty: whole cards."""
    cards: int = 0
    """Whole cards; 0: as many as the node offers."""
    guess: str = ""
    """Why the sharing is a guess; empty: the node states it."""


def card_sharing(
    shown: str, product: Product | None, labels: Mapping[str, str], offered: Amounts, resource: str
) -> CardSharing | None:
    """The sharing of a node with product value `shown`; None: a policy cannot express it."""
    card, profile, shared = without_suffixes(shown)
    renamed = f"{resource}{_SHARED}" in offered
    replicas = _replicas(product, labels, offered, resource) if shared or renamed else 1
    partitions = {name: n for name, n in offered.items() if name.startswith(_MIG) and n}
    if replicas < 1:
        return None
    if profile:
        return _single(card, profile, product, labels, offered.get(resource, 0), replicas)
    if partitions:
        return _mixed(card, product, labels, partitions, offered.get(resource, 0), replicas)
    if replicas == 1:
        return CardSharing(card)
    strategy = labels.get(_STRATEGY, "")
    mode = "mps" if strategy == "mps" else "time-slicing"
    sharing: dict[str, Any] = {"mode": mode, "replicas": replicas, **({"rename": True} if renamed else {})}
    total = offered.get(f"{resource}{_SHARED}" if renamed else resource, 0)
    cards = _number(labels, _COUNT) or total // replicas
    unknown = [] if strategy else ["no strategy label"]
    unknown += [] if _REPLICAS in labels else [f"{total} replicas on a node"]
    return CardSharing(card, sharing, cards, ", ".join(unknown))


def gke_sharing(
    value: str, product: Product | None, labels: Mapping[str, str], offered: int
) -> CardSharing | None:
    """The sharing of a GKE node, which counts partitions and clients as whole cards and labels them.

    None: a policy cannot express it.
    """
    replicas = max(_number(labels, GKE_CLIENTS), 1) if GKE_SHARING in labels else 1
    if GKE_SLICE in labels:
        return _single(value, labels[GKE_SLICE], product, {}, offered, replicas)
    if replicas == 1:
        return CardSharing(value)
    mode = "mps" if labels[GKE_SHARING] == "mps" else "time-slicing"
    return CardSharing(value, {"mode": mode, "replicas": replicas}, offered // replicas)


def profile_named(label: str, product: Product | None) -> str:
    """A MIG profile from its spelling in labels and resources, where `+` becomes `.`."""
    known = {**product.older_mig_profiles, **product.mig_profiles} if product else {}
    return next((profile for profile in known if profile.replace("+", ".") == label), label)


def _replicas(product: Product | None, labels: Mapping[str, str], offered: Amounts, resource: str) -> int:
    """Replicas per card by label, else by the number of cards; 0: shared, but the number is unknown."""
    stated = _number(labels, _REPLICAS)
    if stated > 1:
        return stated
    total = offered.get(f"{resource}{_SHARED}", 0) or offered.get(resource, 0)
    counts = [_number(labels, _COUNT)] if _COUNT in labels else product.cards_per_node if product else ()
    return next((total // n for n in counts if n and not total % n and total // n > 1), 0)


def _single(
    card: str, label: str, product: Product | None, labels: Mapping[str, str], offered: int, replicas: int
) -> CardSharing | None:
    if product is None:
        return None
    profile = profile_named(label, product)
    most = {**product.older_mig_profiles, **product.mig_profiles}.get(profile, 0)
    slices = _number(labels, _COUNT) or offered // replicas
    if not most or not slices:
        return None
    for cards in (*product.cards_per_node, *range(1, slices + 1)):
        if not slices % cards and slices // cards <= most:
            sharing: dict[str, Any] = {"mode": "mig-single", "profiles": {profile: slices // cards}}
            if replicas > 1:
                sharing["replicas"] = replicas
            return CardSharing(card, sharing, cards, f"{slices} partitions of {profile} on a node")
    return None


def _mixed(
    card: str,
    product: Product | None,
    labels: Mapping[str, str],
    partitions: Mapping[str, int],
    whole: int,
    replicas: int,
) -> CardSharing | None:
    cards = _number(labels, _COUNT) or max(product.cards_per_node if product else (0,))
    cut_cards = cards - whole
    if cut_cards < 1 or replicas > 1 or any(name.endswith(_SHARED) for name in partitions):
        return None
    if any(number % cut_cards for number in partitions.values()):
        return None
    profiles = {
        profile_named(name.removeprefix(_MIG), product): number // cut_cards
        for name, number in sorted(partitions.items())
    }
    sharing: dict[str, Any] = {"mode": "mig-mixed", "profiles": profiles}
    if whole:
        sharing["wholeCards"] = whole
    return CardSharing(
        card, sharing, cards, "" if _COUNT in labels else "the usual number of cards of a node"
    )


def _number(labels: Mapping[str, str], key: str) -> int:
    text = labels.get(key, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
