"""The card of a node: by its product label where it has one, else by the resource it offers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from policykit.catalogue import cards as catalogue
from policykit.catalogue.cards import Product, Vendor
from policykit.catalogue.products import without_suffixes
from policykit.importer.found import Node
from policykit.importer.sharing import Cut, cut, gke_cut
from policykit.kube.names import is_extended, is_hugepages, label_value_problem
from policykit.model.pool import Amounts
from policykit.policy.compile.known_card import GFD_VENDOR
from policykit.policy.presets import PRESETS

_ROLES = ("card", "shared", "core", "memory", "partition")
_NATIVE = ("cpu", "memory", "pods")


class Key(NamedTuple):
    """A node label that names cards."""

    key: str
    vendor: str
    writer: str
    """cloud, gfd, vendor or manual, as a scheme's discovery."""
    provider: str = ""


Entry = tuple[tuple[str, Any], ...]
"""A card's entry in a policy, as pairs."""


class Seen(NamedTuple):
    """A card as a node shows it."""

    card: Entry
    key: str = ""
    """Its product label; empty: it has none."""
    shown: str = ""
    """Value of that label, sharing included."""
    writer: str = ""
    cut: Cut = Cut("")
    resource: str = ""
    sizes: tuple[int, ...] = ()
    """Cards per node that the catalogue knows of."""
    vendor: str = ""
    """Maker of a card with a product label."""

    @property
    def product(self) -> str:
        return str(dict(self.card).get("product", ""))

    @property
    def usual(self) -> int:
        """Cards per node where nobody says; 0: not known."""
        return max(self.sizes, default=0)

    @property
    def count_keys(self) -> tuple[str, ...]:
        """Labels of the number of cards."""
        maker = catalogue.vendor(self.vendor)
        return (
            tuple(key for key in (maker.count_key, f"{maker.domain}/{maker.card}.count") if key)
            if maker
            else ()
        )

    @property
    def keys(self) -> frozenset[str]:
        """Every label that the card alone explains."""
        maker = catalogue.vendor(self.vendor)
        if maker is None:
            return frozenset()
        memory = (maker.memory_key, f"{maker.domain}/{maker.card}.memory")
        clouds = [each for each in PRESETS.values() if each.product_keys.get(self.vendor) == self.key]
        by_cloud = [key for each in clouds for key in each.card_keys.get(self.vendor, ())]
        return frozenset({self.key, *self.count_keys, *memory, *maker.label_keys, *by_cloud})

    def counted(self, labels: Mapping[str, str]) -> int:
        """What the count label says; 0: nothing."""
        texts = (labels.get(key, "") for key in self.count_keys)
        return next((int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 7), 0)


def offered(node: Node) -> dict[str, int]:
    """What a node gives pods. Of devices its capacity: one that fails comes back."""
    found = {r: n for r, n in node.allocatable.items() if r in _NATIVE or (is_hugepages(r) and n)}
    for source in (node.capacity, node.allocatable):
        for resource, number in source.items():
            if is_extended(resource) and number:
                found[resource] = max(number, found.get(resource, 0))
    return dict(sorted(found.items()))


def seen(labels: Mapping[str, str], has: Amounts, named: frozenset[str] = frozenset()) -> Seen | None:
    """The card of a node with these labels and resources; None: it has none.

    `named`: resources outside the catalogue that are known to be cards.
    """
    for key in product_keys():
        value = labels.get(key.key, "")
        if value and not label_value_problem(value):
            found = _by_label(key, value, labels, has)
            if found:
                return found
    resource = _card_resource(has, named)
    return bare(resource) if resource else None


def bare(resource: str) -> Seen:
    """A card that is known by its resource alone."""
    return Seen((("resource", resource),), resource=resource)


@cache
def product_keys() -> tuple[Key, ...]:
    """Every label that may name a card: clouds' own, then vendors', then of the form of the seed scheme."""
    by_cloud = [
        Key(key, vendor_id, "cloud", name)
        for name, preset in PRESETS.items()
        for vendor_id, key in preset.product_keys.items()
    ]
    makers = [vendor for vendor in catalogue.vendors() if vendor.hardware == vendor.vendor]
    by_vendor = [
        Key(vendor.product_key, vendor.vendor, "gfd" if vendor.vendor == GFD_VENDOR else "vendor")
        for vendor in makers
        if vendor.product_key
    ]
    by_hand = [Key(f"{vendor.domain}/{vendor.card}.product", vendor.vendor, "manual") for vendor in makers]
    return (*by_cloud, *by_vendor, *by_hand)


def product_named(key: str, value: str) -> str:
    """The product, as a policy writes it, that a label or taint value names; empty: the key names none."""
    for each in product_keys():
        if each.key == key:
            vendor = catalogue.vendor(each.vendor)
            assert vendor is not None
            shown = without_suffixes(value)[0] if each.writer == "gfd" else value
            entry = _card(each, shown, _product(each, value), vendor, vendor.resource, value)
            return str(dict(entry)["product"])
    return ""


def also_named(labels: Mapping[str, str], card: Seen | None) -> dict[str, str]:
    """Labels by which others name the same card: a cloud, beside GPU Feature Discovery."""
    keys = {each.key for each in product_keys() if "/" in each.key and card and each.key != card.key}
    return {k: v for k, v in sorted(labels.items()) if k in keys and v and not label_value_problem(v)}


def discovery(card: Seen, preset: str, overall: str) -> str:
    """Who writes the labels of a pool's card, where that differs from the scheme's; else empty."""
    maker = catalogue.vendor(card.vendor)
    if maker is None or card.writer == "cloud":
        return ""
    by_cloud = overall in ("", "vendor") and card.vendor in PRESETS[preset].product_keys
    by_vendor = overall == "vendor" and maker.product_key
    by_gfd = overall in ("", "gfd") and card.vendor == GFD_VENDOR
    usual = "cloud" if by_cloud else "vendor" if by_vendor else "gfd" if by_gfd else "manual"
    # Under either name the labels of whole NVIDIA cards are the same.
    alike = (card.writer, usual) == ("gfd", "vendor") and card.shown == card.product
    return "" if usual == card.writer or alike else card.writer


def _by_label(key: Key, value: str, labels: Mapping[str, str], has: Amounts) -> Seen | None:
    vendor = catalogue.vendor(key.vendor)
    assert vendor is not None
    product = _product(key, value)
    if product is not None and product.vendor != vendor.vendor:
        return None
    theirs = [r for r in has if (found := catalogue.resource(r)) and _maker(found.vendor) == vendor.vendor]
    if "/" not in key.key and product is None and not theirs:
        # A bare key such as Model is anybody's word.
        return None
    usual = (product.resource if product else "") or vendor.resource
    whole = [r for r in theirs if (found := catalogue.resource(r)) and found.role == "card"]
    resource = usual if usual in has or not whole else whole[0]
    state = _cut(key, value, product, labels, has, resource)
    if state is None and without_suffixes(value)[0] == value:
        # Cut in a way that has no word: the amounts say it.
        state = Cut(value)
    if state is None:
        entry = _entry(value, resource, {})
        return Seen(entry, key.key, value, key.writer, Cut(value), resource, vendor=vendor.vendor)
    entry = _card(key, state.product, product, vendor, resource, value)
    sizes = product.cards_per_node if product else ()
    return Seen(entry, key.key, value, key.writer, state, resource, sizes, vendor.vendor)


def _cut(
    key: Key, value: str, product: Product | None, labels: Mapping[str, str], has: Amounts, resource: str
) -> Cut | None:
    if key.writer == "gfd":
        return cut(value, product, labels, has, resource)
    if key.provider == "gke":
        return gke_cut(value, product, labels, has.get(resource, 0))
    return Cut(value)


def _product(key: Key, value: str) -> Product | None:
    values = PRESETS[key.provider].product_values if key.provider else {}
    for name, theirs in values.items():
        if value in theirs:
            return catalogue.product(name)
    found = catalogue.variant(value)
    return found.product if found else None


def _card(
    key: Key, written: str, product: Product | None, vendor: Vendor, resource: str, value: str
) -> Entry:
    if product is None:
        labels = {key.key: value} if key.provider and PRESETS[key.provider].product_values else {}
        return _entry(written, resource, labels)
    stated = resource if resource != (product.resource or vendor.resource) else ""
    by_cloud = PRESETS[key.provider].product_values if key.provider else {}
    if by_cloud and vendor.vendor == GFD_VENDOR:
        alone = by_cloud.get(product.product) == (value,)
        return _entry(product.product, stated, {} if alone else {key.key: value})
    if key.writer in ("cloud", "vendor") and product.native_value:
        return _entry(product.product, stated, {} if product.native_value == value else {key.key: value})
    return _entry(written, stated, {})


def _entry(product: str, resource: str, labels: Mapping[str, str]) -> Entry:
    says = {"product": product, "resource": resource, "labels": tuple(sorted(labels.items()))}
    return tuple((name, value) for name, value in says.items() if value)


def _card_resource(has: Amounts, named: frozenset[str]) -> str:
    """The resource by which a node without product label offers cards."""
    ranked = []
    for name in has:
        known = catalogue.resource(name)
        if name in named:
            ranked.append((0, name))
        elif known and known.role in _ROLES:
            # koordinator.sh/gpu counts the percents of cards that others count whole.
            role = "core" if known.unit == "percent" else known.role
            ranked.append((_ROLES.index(role), name))
    if not ranked:
        return ""
    rank, first = min(ranked)
    if rank and first.startswith("nvidia.com/"):
        return "nvidia.com/gpu"
    return first


def _maker(vendor_id: str) -> str:
    vendor = catalogue.vendor(vendor_id)
    return vendor.hardware if vendor else ""
