"""Vendors and their cards, as node labels name them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from policykit import bundled
from policykit.model.pool import Sharing
from policykit.model.taint import Taint, Toleration

LABEL_LIMIT = 63
"""Characters of a label value; discovery drops a longer one without a word."""

_INVALID = "-MIG-INVALID"
_MIG = "-MIG-"
_SHARED = "-SHARED"


class Vendor(NamedTuple):
    """A maker's device plugin, or a scheduler that shares a maker's cards."""

    vendor: str
    """Id: nvidia, nvidia-hami, huawei, ..."""
    name: str
    domain: str
    card: str
    """The type in `<domain>/<type>`: gpu, mlu, npu."""
    resource: str
    """What a pod asks for to get a whole card."""
    hardware: str = ""
    """Id of the vendor whose cards they are; its own id for a maker, empty for any maker."""
    grade: str = ""
    """A: source of the vendor, provider or Kubernetes; B: second-hand; C: community only."""
    makers: tuple[str, ...] = ()
    """What device names begin with."""
    other_cards: tuple[str, ...] = ()
    product_key: str = ""
    """Node label of the card model; empty where no component sets one. So are the next three."""
    count_key: str = ""
    memory_key: str = ""
    driver_key: str = ""
    memory_format: str = ""
    """MiB: an integer, fit for Gt and Lt; else an example of the text."""
    set_by: str = ""
    gfd: str = "no"
    """How far the labels follow GPU Feature Discovery: yes, partly, no."""
    label_keys: tuple[str, ...] = ()
    """Every label key its discovery sets."""
    suffixes: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    """Set without anyone asking."""
    passing_taints: tuple[Taint, ...] = ()
    """Set while a card is cut or repaired."""
    daemon_tolerations: tuple[Toleration, ...] = ()
    """What its own daemons tolerate as shipped."""
    allowed_counts: tuple[int, ...] = ()
    allowed_when: str = ""
    templates_mib: Mapping[str, Mapping[str, int]] = {}
    """Card to slice template to MiB."""
    dra_driver: str = ""
    dra_classes: tuple[str, ...] = ()
    dra_resource: str = ""


class Slice(NamedTuple):
    """The product value that a cut or shared card shows, with what a node reported."""

    product: str
    memory_mib: int
    memory_confidence: str
    cards_per_node: tuple[int, ...] = ()
    memory_seen: tuple[int, ...] = ()


class Product(NamedTuple):
    """A card model. `product` is the label value of a node with whole cards of it."""

    product: str
    vendor: str
    name: str
    evidence: str = ""
    """label: a component writes it; device-name: by the naming rule; derived: not seen on a node."""
    aliases: tuple[str, ...] = ()
    """Other right values for the same card."""
    short: tuple[str, ...] = ()
    """What people write for it or its family; no node carries it."""
    wrong: tuple[str, ...] = ()
    """Mistaken values, each of this card alone."""
    resource: str = ""
    """Where it differs from its vendor's."""
    native_key: str = ""
    native_value: str = ""
    """The vendor's own label, where that is not of the GFD form; empty value: not seen."""
    memory_mib: int | None = None
    memory_confidence: str = ""
    """measured, reported, recalled or nominal; empty: not known."""
    memory_seen: tuple[int, ...] = ()
    """Other readings of the same card."""
    memory_label: str = ""
    cards_per_node: tuple[int, ...] = ()
    """Usual sizes, most common first: for hints, never for errors."""
    generation: str = ""
    compute: str = ""
    formats: tuple[str, ...] = ()
    """Number formats with matrix units."""
    arch: str = ""
    """Host architecture where the card fixes it."""
    clique: bool = False
    """Multi-node NVLink: the nodes carry nvidia.com/gpu.clique."""
    mig_profiles: Mapping[str, int] = {}
    """Profile to the largest count of it on one card; empty: cannot be cut."""
    older_mig_profiles: Mapping[str, int] = {}
    """Names that earlier drivers gave."""
    mig_taken_from: str = ""
    """The product whose profiles these are, where the maker's table lacks this one."""
    mig_also: tuple[str, ...] = ()
    """Card families without an entry of their own that are cut alike."""
    slices: tuple[Slice, ...] = ()
    facts: Mapping[str, Any] = {}
    """What only a few cards have: ai_cores, topology_dims, request_step, rack, ..."""


class Variant(NamedTuple):
    """A product value taken apart: the card, how it is cut, whether it is shared."""

    product: Product
    profile: str = ""
    """MIG profile in label form; INVALID where the node cannot be cut so."""
    shared: bool = False


def vendor(name: str) -> Vendor | None:
    """The vendor with this id."""
    return _vendors().get(name)


def vendors() -> tuple[Vendor, ...]:
    """All, by id."""
    return tuple(_vendors().values())


def products() -> tuple[Product, ...]:
    """All card models, by vendor and product."""
    return _products()


def product(value: str) -> Product | None:
    """The card with exactly this product value, alias or native label value."""
    return _by_value().get(value)


def variant(value: str) -> Variant | None:
    """A product value with the `-MIG-<profile>` and `-SHARED` suffixes of NVIDIA's GFD."""
    card, profile, shared = without_suffixes(value)
    found = product(card)
    if found is None:
        return None
    return Variant(found, profile, shared) if not (profile or shared) or _has_suffixes(found.vendor) else None


def without_suffixes(value: str) -> tuple[str, str, bool]:
    """The card's part of a product value, its MIG profile, and whether it is shared."""
    bare = value.removesuffix(_SHARED)
    card, _, profile = bare.partition(_MIG)
    return card, profile, bare != value


def product_label(card: str, sharing: Sharing, vendor_id: str = "") -> str:
    """The product value that nodes show under this sharing. May be over LABEL_LIMIT.

    A card outside the catalogue counts as `vendor_id`'s. Source: k8s-device-plugin v0.20
    internal/lm/resource.go: with strategy single the profile, its `+` as `.`; `-SHARED` last.
    """
    known = product(card)
    if not _has_suffixes(known.vendor if known else vendor_id):
        return card
    value = card
    if sharing.mode == "mig-single":
        if len(sharing.profiles) != 1:
            return card + _INVALID
        value += _MIG + next(iter(sharing.profiles)).replace("+", ".")
    return value + _SHARED if sharing.mode != "none" and sharing.replicas > 1 else value


def _has_suffixes(vendor_id: str) -> bool:
    found = vendor(vendor_id)
    return found is not None and bool(found.suffixes)


@cache
def _vendors() -> dict[str, Vendor]:
    table = bundled.table("profiles", "compiled", "cards.json")["vendors"]
    return {name: _vendor(entry) for name, entry in table.items()}


def _vendor(entry: Mapping[str, Any]) -> Vendor:
    fields = _frozen(entry)
    for name in ("taints", "passing_taints"):
        fields[name] = tuple(_taint(taint) for taint in entry.get(name, ()))
    fields["daemon_tolerations"] = tuple(Toleration(**each) for each in entry.get("daemon_tolerations", ()))
    return Vendor(**fields)


def _taint(entry: Mapping[str, str]) -> Taint:
    return Taint(entry["key"], entry.get("value", ""), entry["effect"])


@cache
def _products() -> tuple[Product, ...]:
    table = bundled.table("profiles", "compiled", "cards.json")["products"]
    found = [_product(entry) for entry in table.values()]
    return tuple(sorted(found, key=lambda card: (card.vendor, card.product)))


def _product(entry: Mapping[str, Any]) -> Product:
    fields = _frozen(entry)
    fields["slices"] = tuple(
        Slice(
            each["product"],
            each["mib"],
            each["confidence"],
            tuple(each["cards_per_node"]),
            tuple(each.get("seen", ())),
        )
        for each in entry.get("slices", ())
    )
    return Product(**fields)


def _frozen(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


@cache
def _by_value() -> dict[str, Product]:
    found: dict[str, Product] = {}
    for card in _products():
        for value in (card.product, *card.aliases, card.native_value):
            if value:
                found.setdefault(value, card)
    return found
