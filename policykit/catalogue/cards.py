"""Vendors and card models, by node label value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from policykit import bundled
from policykit.model.pool import Sharing, Taint, Toleration
from policykit.namedtuple import NamedTuple

LABEL_LIMIT = 63
"""Longest label value; discovery silently drops longer ones."""

_INVALID = "-MIG-INVALID"
_MIG = "-MIG-"
_SHARED = "-SHARED"


class Vendor(NamedTuple):
    """A vendor's device plugin, or a scheduler that shares a vendor's cards."""

    vendor: str
    """Id: nvidia, nvidia-hami, huawei, ..."""
    name: str
    domain: str
    card: str
    """The type in `<domain>/<type>`: gpu, mlu, npu."""
    resource: str
    """Resource that a pod requests for a whole card."""
    hardware: str = ""
    """Id of the hardware vendor; its own id for a vendor of cards, empty for any vendor."""
    grade: str = ""
    """A: source of the vendor, provider or Kubernetes; B: second-hand; C: community only."""
    makers: tuple[str, ...] = ()
    """Prefix of device names."""
    other_cards: tuple[str, ...] = ()
    product_key: str = ""
    """Node label of the card model; empty: no component sets one. The same applies to the next three."""
    count_key: str = ""
    memory_key: str = ""
    driver_key: str = ""
    memory_format: str = ""
    """MiB: an integer, fit for Gt and Lt; else an example of the text."""
    set_by: str = ""
    gfd: str = "no"
    """Whether the labels follow GPU Feature Discovery: yes, partly, no."""
    label_keys: tuple[str, ...] = ()
    """Every label key that its discovery sets."""
    suffixes: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    """Taints set automatically."""
    passing_taints: tuple[Taint, ...] = ()
    """Taints set while a card is partitioned or repaired."""
    daemon_tolerations: tuple[Toleration, ...] = ()
    """Default tolerations of its daemons."""
    allowed_counts: tuple[int, ...] = ()
    allowed_when: str = ""
    templates_mib: Mapping[str, Mapping[str, int]] = {}
    """Card to slice template to MiB."""
    dra_driver: str = ""
    dra_classes: tuple[str, ...] = ()
    dra_resource: str = ""


class Slice(NamedTuple):
    """A product value of a partitioned or shared card, as a node reported it."""

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
    """label: written by a component; device-name: by the naming rule; derived: never seen on a node."""
    aliases: tuple[str, ...] = ()
    """Other correct values for the same card."""
    short: tuple[str, ...] = ()
    """Informal names of it or its family; never a label value."""
    wrong: tuple[str, ...] = ()
    """Wrong values, each for this card only."""
    resource: str = ""
    """If different from the vendor's."""
    native_key: str = ""
    native_value: str = ""
    """The vendor's own label value, if not in GFD form; empty: never seen."""
    memory_mib: int | None = None
    memory_confidence: str = ""
    """measured, reported, recalled or nominal; empty: unknown."""
    memory_seen: tuple[int, ...] = ()
    """Other readings of the same card."""
    memory_label: str = ""
    cards_per_node: tuple[int, ...] = ()
    """Usual cards per node, most common first: for hints, never for errors."""
    generation: str = ""
    compute: str = ""
    formats: tuple[str, ...] = ()
    """Number formats with matrix units."""
    arch: str = ""
    """Host architecture, if the card determines it."""
    clique: bool = False
    """Multi-node NVLink: the nodes have label nvidia.com/gpu.clique."""
    mig_profiles: Mapping[str, int] = {}
    """Profile to its largest number on one card; empty: cannot be partitioned."""
    older_mig_profiles: Mapping[str, int] = {}
    """Profile names of earlier drivers."""
    mig_taken_from: str = ""
    """The product these profiles come from, if the vendor's table lacks this one."""
    mig_also: tuple[str, ...] = ()
    """Card families without an entry that are partitioned the same way."""
    slices: tuple[Slice, ...] = ()
    facts: Mapping[str, Any] = {}
    """Rare facts: ai_cores, topology_dims, request_step, rack, ..."""


class Variant(NamedTuple):
    """The parts of a product value: the card, its MIG profile, whether it is shared."""

    product: Product
    profile: str = ""
    """MIG profile in label form; INVALID if the node cannot be partitioned this way."""
    shared: bool = False


def vendor(name: str) -> Vendor | None:
    """The vendor with this id."""
    return _vendors().get(name)


def vendors() -> tuple[Vendor, ...]:
    """All vendors, by id."""
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
    """The product value of nodes with this sharing. May exceed LABEL_LIMIT.

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
