"""The card of a node: by its product label if present, else by its resources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from policykit.catalogue import cards as catalogue
from policykit.catalogue import resources
from policykit.catalogue.cards import Product, Vendor, without_suffixes
from policykit.importer.card_sharing import CardSharing, card_sharing, gke_sharing
from policykit.kube.names import is_extended, is_hugepages, label_value_problem
from policykit.model.inventory import Node
from policykit.model.pool import Amounts
from policykit.model.shared_cards import NAMES, SLOTS, VirtualCards
from policykit.namedtuple import NamedTuple
from policykit.policy.compile.scheme import GFD_VENDOR
from policykit.policy.presets import PRESETS

GPU = "nvidia.com/gpu"
_ROLES = ("card", "shared", "core", "memory", "partition")
_NATIVE = ("cpu", "memory", "pods")


class ProductKey(NamedTuple):
    """A node label whose value is a card product."""

    key: str
    vendor: str
    writer: str
    """Who writes it, as in the scheme's `discovery`: cloud, gfd, vendor or manual."""
    provider: str = ""


CardEntry = tuple[tuple[str, Any], ...]
"""A card's entry in a policy, as pairs."""


class NodeCard(NamedTuple):
    """The card of a node."""

    entry: CardEntry
    key: str = ""
    """Key of its product label; empty: none."""
    label_value: str = ""
    """Value of that label, including sharing suffixes."""
    writer: str = ""
    sharing: CardSharing = CardSharing("")
    resource: str = ""
    sizes: tuple[int, ...] = ()
    """Cards per node that the catalogue lists."""
    vendor: str = ""
    """Vendor of a card with a product label."""

    @property
    def product(self) -> str:
        return str(dict(self.entry).get("product", ""))

    @property
    def default_count(self) -> int:
        """Cards per node unless stated; 0: unknown."""
        return max(self.sizes, default=0)

    @property
    def count_keys(self) -> tuple[str, ...]:
        """Keys of the labels that hold the number of cards."""
        maker = catalogue.vendor(self.vendor)
        return (
            tuple(key for key in (maker.count_key, f"{maker.domain}/{maker.card}.count") if key)
            if maker
            else ()
        )

    @property
    def keys(self) -> frozenset[str]:
        """Every label key that follows from the card."""
        maker = catalogue.vendor(self.vendor)
        if maker is None:
            return frozenset()
        memory = (maker.memory_key, f"{maker.domain}/{maker.card}.memory")
        clouds = [each for each in PRESETS.values() if each.product_keys.get(self.vendor) == self.key]
        by_cloud = [key for each in clouds for key in each.card_keys.get(self.vendor, ())]
        return frozenset({self.key, *self.count_keys, *memory, *maker.label_keys, *by_cloud})

    def label_count(self, labels: Mapping[str, str]) -> int:
        """The number in the count label; 0: none."""
        texts = (labels.get(key, "") for key in self.count_keys)
        return next((int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 7), 0)


def usable_resources(node: Node) -> dict[str, int]:
    """Resources a node offers to pods. Devices by capacity: a failed one comes back."""
    found = {r: n for r, n in node.allocatable.items() if r in _NATIVE or (is_hugepages(r) and n)}
    for source in (node.capacity, node.allocatable):
        for resource, number in source.items():
            if is_extended(resource) and number:
                found[resource] = max(number, found.get(resource, 0))
    return dict(sorted(found.items()))


def card_of(
    labels: Mapping[str, str],
    has: Amounts,
    named: frozenset[str] = frozenset(),
    virtual: VirtualCards | None = None,
) -> NodeCard | None:
    """The card of a node with these labels and resources; None: no card.

    `named`: resources outside the catalogue that are cards; `virtual`: how HAMi or Volcano shares them.
    """
    if virtual is not None:
        return _shared_by(virtual, card_of(labels, _whole(has, virtual), named))
    for key in product_keys():
        value = labels.get(key.key, "")
        if value and not label_value_problem(value):
            found = _by_label(key, value, labels, has)
            if found:
                return found
    resource = _card_resource(has, named)
    return card_of_resource(resource) if resource else None


def _whole(has: Amounts, virtual: VirtualCards) -> Amounts:
    """What the node would offer if its cards were not shared."""
    names = NAMES[virtual.mode]
    return {**{name: n for name, n in has.items() if name not in names}, GPU: virtual.cards}


def _shared_by(virtual: VirtualCards, card: NodeCard | None) -> NodeCard | None:
    if card is None:
        return None
    options: dict[str, Any] = {"mode": virtual.mode}
    if virtual.slots != SLOTS:
        options["slots"] = virtual.slots
    return card._replace(sharing=CardSharing(card.sharing.product, options, virtual.cards))


def card_of_resource(resource: str) -> NodeCard:
    """A card known by its resource only."""
    return NodeCard((("resource", resource),), resource=resource)


@cache
def product_keys() -> tuple[ProductKey, ...]:
    """Every label key that may name a card: those of clouds, then vendors, then the seed scheme's form."""
    by_cloud = [
        ProductKey(key, vendor_id, "cloud", name)
        for name, preset in PRESETS.items()
        for vendor_id, key in preset.product_keys.items()
    ]
    makers = [vendor for vendor in catalogue.vendors() if vendor.hardware == vendor.vendor]
    by_vendor = [
        ProductKey(vendor.product_key, vendor.vendor, "gfd" if vendor.vendor == GFD_VENDOR else "vendor")
        for vendor in makers
        if vendor.product_key
    ]
    by_hand = [
        ProductKey(f"{vendor.domain}/{vendor.card}.product", vendor.vendor, "manual") for vendor in makers
    ]
    return (*by_cloud, *by_vendor, *by_hand)


def product_named(key: str, value: str) -> str:
    """The product, as a policy writes it, for a label or taint value; empty: not a product key."""
    for each in product_keys():
        if each.key == key:
            vendor = catalogue.vendor(each.vendor)
            assert vendor is not None
            shown = without_suffixes(value)[0] if each.writer == "gfd" else value
            entry = _card(each, shown, _product(each, value), vendor, vendor.resource, value)
            return str(dict(entry)["product"])
    return ""


def other_card_labels(labels: Mapping[str, str], card: NodeCard | None) -> dict[str, str]:
    """Labels from other sources for the same card: a cloud's, next to GPU Feature Discovery's."""
    keys = {each.key for each in product_keys() if "/" in each.key and card and each.key != card.key}
    return {k: v for k, v in sorted(labels.items()) if k in keys and v and not label_value_problem(v)}


def discovery(card: NodeCard, preset: str, overall: str) -> str:
    """Who writes the labels of a pool's card if that differs from the scheme; else empty."""
    maker = catalogue.vendor(card.vendor)
    if maker is None or card.writer == "cloud":
        return ""
    by_cloud = overall in ("", "vendor") and card.vendor in PRESETS[preset].product_keys
    by_vendor = overall == "vendor" and maker.product_key
    by_gfd = overall in ("", "gfd") and card.vendor == GFD_VENDOR
    usual = "cloud" if by_cloud else "vendor" if by_vendor else "gfd" if by_gfd else "manual"
    # gfd and vendor write the same labels for whole NVIDIA cards.
    alike = (card.writer, usual) == ("gfd", "vendor") and card.label_value == card.product
    return "" if usual == card.writer or alike else card.writer


def _by_label(key: ProductKey, value: str, labels: Mapping[str, str], has: Amounts) -> NodeCard | None:
    vendor = catalogue.vendor(key.vendor)
    assert vendor is not None
    product = _product(key, value)
    if product is not None and product.vendor != vendor.vendor:
        return None
    theirs = [r for r in has if (found := resources.resource(r)) and _maker(found.vendor) == vendor.vendor]
    if "/" not in key.key and product is None and not theirs:
        # A key without a domain, such as Model, may mean anything.
        return None
    usual = (product.resource if product else "") or vendor.resource
    whole = [r for r in theirs if (found := resources.resource(r)) and found.role == "card"]
    resource = usual if usual in has or not whole else whole[0]
    state = _sharing(key, value, product, labels, has, resource)
    if state is None and without_suffixes(value)[0] == value:
        # A partitioning that a policy cannot name: the amounts describe it.
        state = CardSharing(value)
    if state is None:
        entry = _entry(value, resource, {})
        return NodeCard(entry, key.key, value, key.writer, CardSharing(value), resource, vendor=vendor.vendor)
    entry = _card(key, state.product, product, vendor, resource, value)
    sizes = product.cards_per_node if product else ()
    return NodeCard(entry, key.key, value, key.writer, state, resource, sizes, vendor.vendor)


def _sharing(
    key: ProductKey,
    value: str,
    product: Product | None,
    labels: Mapping[str, str],
    has: Amounts,
    resource: str,
) -> CardSharing | None:
    if key.writer == "gfd":
        return card_sharing(value, product, labels, has, resource)
    if key.provider == "gke":
        return gke_sharing(value, product, labels, has.get(resource, 0))
    return CardSharing(value)


def _product(key: ProductKey, value: str) -> Product | None:
    values = PRESETS[key.provider].product_values if key.provider else {}
    for name, theirs in values.items():
        if value in theirs:
            return catalogue.product(name)
    found = catalogue.variant(value)
    return found.product if found else None


def _card(
    key: ProductKey, written: str, product: Product | None, vendor: Vendor, resource: str, value: str
) -> CardEntry:
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


def _entry(product: str, resource: str, labels: Mapping[str, str]) -> CardEntry:
    says = {"product": product, "resource": resource, "labels": tuple(sorted(labels.items()))}
    return tuple((name, value) for name, value in says.items() if value)


def _card_resource(has: Amounts, named: frozenset[str]) -> str:
    """The card resource of a node without a product label."""
    ranked = []
    for name in has:
        known = resources.resource(name)
        if name in named:
            ranked.append((0, name))
        elif known and known.role in _ROLES:
            # koordinator.sh/gpu counts percentages of cards.
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
