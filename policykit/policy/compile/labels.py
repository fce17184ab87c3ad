"""Labels and taints of a pool's nodes: those of the scheme, then those of the pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from policykit.catalogue.cards import product_label
from policykit.kube.names import label_key_problem, label_value_problem
from policykit.kube.node_label_values import GKE_SHARING
from policykit.manifests.path import Path
from policykit.model import shared_cards
from policykit.model.pool import Sharing, Taint
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.scheme import CardData, CardLabels, EffectiveScheme, EffectiveTaint
from policykit.policy.compile.sharing import PoolCards
from policykit.policy.models import pool as written
from policykit.policy.models.base import Effect
from policykit.policy.presets import GKE_CLIENTS, GKE_SLICE
from policykit.policy.problems import did_you_mean

EFFECTS: tuple[str, ...] = get_args(Effect)


class NodeAttributes(NamedTuple):
    """Labels and taints without duplicates."""

    labels: dict[str, str]
    taints: dict[tuple[str, str], Taint]
    """By key and effect: a node has at most one taint for each pair."""


def add_label(draft: Draft, path: Path, attributes: NodeAttributes, key: str, value: str) -> None:
    """Adds a label; reports a malformed value, or a conflict with an existing one."""
    draft.check(path, f"label {key}: value {value!r}", label_value_problem(value))
    there = attributes.labels.setdefault(key, value)
    if there != value:
        message = f"label {key} is {there!r} in the scheme or the card, but {value!r} here"
        draft.problems.error(path, message, "remove it here, or change the scheme")


def add_taint(draft: Draft, path: Path, attributes: NodeAttributes, added: Taint) -> None:
    """Adds a taint; reports a malformed value, or a conflict with an existing one."""
    if attributes.labels.get(added.key) != added.value:
        draft.check(path, f"taint {added.key}: value {added.value!r}", label_value_problem(added.value))
    there = attributes.taints.setdefault((added.key, added.effect), added)
    if there != added:
        message = f"a node has one taint per key and effect: {there} already exists"
        draft.problems.error(path, message, "remove one, or change the scheme")


def add_usage(
    draft: Draft, path: Path, attributes: NodeAttributes, usage: str, scheme: EffectiveScheme
) -> None:
    """The usage label and taint."""
    part = scheme.usage
    wanted = part.label or part.taint is not None
    if not usage or not wanted:
        return
    if not part.key:
        message = "the usage has no label key because the policy has no domain"
        draft.problems.error(
            (*path, "usage"), message, "add domain: example.com, or scheme.usage.key", key=True
        )
        return
    if part.label:
        add_label(draft, (*path, "usage"), attributes, part.key, usage)
    if part.taint is not None:
        add_taint(draft, (*path, "usage"), attributes, _taint(part.taint, part.key, usage))


def add_card(
    draft: Draft,
    path: Path,
    attributes: NodeAttributes,
    cards: PoolCards,
    names: CardLabels,
    scheme: EffectiveScheme,
) -> None:
    """The product label and taint, the count label, and the labels set in the policy for the card."""
    card, part = cards.card, scheme.product
    product = _shown_product(cards, names)
    # A suffix comes from the sharing of the pool, so a value that is too long is reported there.
    place = ("cards", card.name, "product") if product == names.product else (*path, "sharing")
    if part.label and names.product_key and product:
        add_label(draft, place, attributes, names.product_key, product)
        counted = cards.offer().counted
        if names.count_key and counted and cards.sure:
            attributes.labels.setdefault(names.count_key, str(counted))
        if names.writer == "manual" and names.memory_key and card.memory_mib:
            attributes.labels.setdefault(names.memory_key, str(card.memory_mib))
    if part.taint is not None:
        added = _card_taint(card, names, part.taint, product, scheme)
        if added is not None:
            add_taint(draft, place, attributes, added)
    for key, value in card.labels.items():
        add_label(draft, ("cards", card.name, "labels", key), attributes, key, value)
    if names.writer == "cloud" and scheme.preset.provider == "gke":
        _add_sharing(attributes, cards.sharing)


def _shown_product(cards: PoolCards, names: CardLabels) -> str:
    """The product as GPU Feature Discovery labels it on partitioned or shared cards, else unchanged."""
    if names.writer != "gfd" or names.product_key != cards.card.vendor_product_key or not names.product:
        return names.product
    if cards.sharing.mode in shared_cards.NAMES:
        return names.product
    # Replicas with their own resource name do not change the product label.
    sharing = cards.sharing._replace(replicas=1) if cards.rename else cards.sharing
    return product_label(names.product, sharing, cards.card.vendor)


def _add_sharing(attributes: NodeAttributes, sharing: Sharing) -> None:
    """GKE has its own labels for partitions and sharing."""
    if sharing.mode == "mig-single" and sharing.profiles:
        attributes.labels.setdefault(GKE_SLICE, next(iter(sharing.profiles)))
    if sharing.replicas > 1 and sharing.mode not in shared_cards.NAMES:
        attributes.labels.setdefault(GKE_SHARING, "mps" if sharing.mode == "mps" else "time-sharing")
        attributes.labels.setdefault(GKE_CLIENTS, str(sharing.replicas))


def add_own_label(draft: Draft, path: Path, attributes: NodeAttributes, key: str, value: str) -> None:
    """Adds a label whose key is also at `path`."""
    draft.check(path, f"label key {key!r}", label_key_problem(key), key=True)
    add_label(draft, path, attributes, key, value)


def checked_labels(
    draft: Draft, path: Path, stated: Mapping[str, str], inherited: NodeAttributes
) -> dict[str, str]:
    """Labels set for some nodes, checked; `inherited`: those the pool already has."""
    attributes = NodeAttributes(dict(inherited.labels), {})
    for key, value in stated.items():
        add_own_label(draft, (*path, key), attributes, key, value)
    return dict(stated)


def _card_taint(
    card: CardData, names: CardLabels, taint: EffectiveTaint, product: str, scheme: EffectiveScheme
) -> Taint | None:
    """The card taint; None if the cloud sets none, or there is no key and value for one."""
    if scheme.preset.cloud and not taint.key and taint.value is None:
        by_cloud = scheme.preset.card_taints.get(card.vendor)
        # On clouds that set no card taint, the resource name is the customary key for one.
        custom = Taint(card.resource, "", taint.effect) if taint.explicit else None
        return by_cloud or custom
    if not names.product_key and not taint.key:
        return None
    if not product and taint.value is None:
        return None
    return _taint(taint, names.product_key, product)


def _taint(taint: EffectiveTaint, key: str, value: str) -> Taint:
    return Taint(taint.key or key, value if taint.value is None else taint.value, taint.effect)


def parse_taint(draft: Draft, path: Path, stated: str | written.Taint) -> Taint | None:
    """The taint; reports a malformed one and returns None."""
    if isinstance(stated, written.Taint):
        if not stated.key:
            draft.problems.error(path, "a taint needs a key", "add key")
            return None
        draft.check((*path, "key"), f"taint key {stated.key!r}", label_key_problem(stated.key))
        return Taint(stated.key, stated.value, stated.effect)
    body, colon, effect = stated.rpartition(":")
    if not colon or not body:
        draft.problems.error(path, f"{stated!r} is not a taint", "use key=value:NoSchedule")
        return None
    if effect not in EFFECTS:
        message = f"a taint effect is {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}, not {effect!r}"
        draft.problems.error(path, message, did_you_mean(effect, EFFECTS))
        return None
    key, _, value = body.partition("=")
    draft.check(path, f"taint key {key!r}", label_key_problem(key))
    return Taint(key, value, effect)
