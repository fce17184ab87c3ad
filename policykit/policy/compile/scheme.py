"""The label and taint scheme in effect, and the labels of a card under it."""

from __future__ import annotations

from collections.abc import Mapping

from policykit.model.pool import Taint
from policykit.namedtuple import NamedTuple
from policykit.policy.models.pool import KeyPart, PoolScheme, Scheme, TaintPart
from policykit.policy.presets import PRESETS, USAGE_KEY, Preset


class EffectiveTaint(NamedTuple):
    """A taint of the scheme. Empty parts follow from the label it belongs to."""

    key: str = ""
    value: str | None = None
    effect: str = "NoSchedule"
    explicit: bool = False
    """Whether the policy sets it; otherwise it comes from the preset."""


class EffectivePart(NamedTuple):
    """A label key and its taint."""

    key: str = ""
    """Empty for the product, whose key follows from the card."""
    label: bool = True
    taint: EffectiveTaint | None = None


class EffectiveScheme(NamedTuple):
    """The labels and taints of nodes for their usage and cards."""

    preset: Preset
    usage: EffectivePart
    product: EffectivePart
    discovery: str = ""
    """gfd, vendor or manual; empty: chosen by card and cloud."""
    resource_tolerations: bool = False

    @property
    def taints(self) -> tuple[EffectiveTaint, ...]:
        """Those of pools."""
        return tuple(part.taint for part in (self.usage, self.product) if part.taint)


def cluster_scheme(scheme: str | Scheme, domain: str) -> EffectiveScheme:
    """The scheme of pools that set none themselves."""
    if isinstance(scheme, str):
        return _from_preset(scheme, domain)
    return _override(_from_preset(scheme.preset or "seed", domain), scheme)


def pool_scheme(cluster: EffectiveScheme, scheme: str | PoolScheme | None, domain: str) -> EffectiveScheme:
    """The scheme of a pool: the cluster's with parts replaced, or another preset."""
    if scheme is None:
        return cluster
    if isinstance(scheme, str):
        return _from_preset(scheme, domain)
    return _override(_from_preset(scheme.preset, domain) if scheme.preset else cluster, scheme)


def control_plane_taint(scheme: str | Scheme, domain: str) -> Taint | None:
    """Taint of the control plane nodes; None if there is none or it is unknown."""
    stated = None if isinstance(scheme, str) else scheme.control_plane
    if stated is False:
        return None
    preset = PRESETS[scheme if isinstance(scheme, str) else scheme.preset or "seed"]
    template = preset.control_plane or (PRESETS["seed"].control_plane if stated else "")
    key = template.format(domain=domain) if domain else ""
    if isinstance(stated, TaintPart):
        return Taint(stated.key or key, stated.value or "", stated.effect) if stated.key or key else None
    return Taint(key) if key else None


def _from_preset(name: str, domain: str) -> EffectiveScheme:
    preset = PRESETS[name]
    return EffectiveScheme(
        preset,
        EffectivePart(
            USAGE_KEY.format(domain=domain) if domain else "",
            True,
            EffectiveTaint() if preset.usage_taint else None,
        ),
        EffectivePart("", True, EffectiveTaint() if preset.product_taint else None),
        resource_tolerations=preset.resource_tolerations,
    )


def _override(base: EffectiveScheme, changes: PoolScheme) -> EffectiveScheme:
    tolerations = changes.resource_tolerations
    return base._replace(
        usage=_override_part(base.usage, changes.usage),
        product=_override_part(base.product, changes.product),
        discovery=changes.discovery or base.discovery,
        resource_tolerations=base.resource_tolerations if tolerations is None else tolerations,
    )


def _override_part(part: EffectivePart, stated: bool | KeyPart | None) -> EffectivePart:
    if stated is None:
        return part
    if stated is False:
        return EffectivePart(part.key, False, None)
    if stated is True:
        return EffectivePart(part.key, True, part.taint or EffectiveTaint(explicit=True))
    return EffectivePart(
        stated.key or part.key,
        part.label if stated.label is None else stated.label,
        _override_taint(part.taint, stated.taint),
    )


def _override_taint(taint: EffectiveTaint | None, stated: bool | TaintPart | None) -> EffectiveTaint | None:
    if stated is None:
        return taint
    if stated is False:
        return None
    if stated is True:
        return taint or EffectiveTaint(explicit=True)
    return EffectiveTaint(stated.key, stated.value, stated.effect, explicit=True)


GFD_VENDOR = "nvidia"
"""GPU Feature Discovery writes labels for NVIDIA cards only."""


class CardData(NamedTuple):
    """All data of a card: from the policy, else from the catalogue."""

    name: str
    resource: str
    vendor: str = ""
    product: str = ""
    """As written in the policy: the product or one of its aliases."""
    domain: str = ""
    """Label domain and card type of the vendor: nvidia.com and gpu."""
    card_type: str = ""
    stated_key: str = ""
    """Product label key set in the policy."""
    labels: Mapping[str, str] = {}
    """Labels set in the policy for nodes with the card."""
    vendor_product_key: str = ""
    """Label keys written by the vendor's labeller or GPU Feature Discovery."""
    vendor_count_key: str = ""
    vendor_memory_key: str = ""
    vendor_keys: tuple[str, ...] = ()
    """The keys above and the others it writes."""
    vendor_value: str = ""
    """Product as the vendor's labeller writes it; empty if unknown."""
    aliases: tuple[str, ...] = ()
    mistaken: tuple[str, ...] = ()
    memory_mib: int | None = None
    per_node: int = 0
    """The largest known server size, so that fit is over- rather than underestimated."""
    per_node_sure: bool = True
    """False if the catalogue lists several sizes and the policy sets none."""
    mig_profiles: Mapping[str, int] = {}
    arch: str = ""


class CardLabels(NamedTuple):
    """Node labels of a card under a scheme."""

    writer: str
    """gfd, vendor, cloud or manual."""
    product_key: str
    """Empty if the card has no product label."""
    product: str
    """Value of the product label on whole, unshared cards; empty if unknown."""
    candidates: tuple[str, ...] = ()
    """Values the cloud uses for it, if there are several."""
    count_key: str = ""
    memory_key: str = ""
    keys: tuple[str, ...] = ()
    """Every key that is written for the card."""
    discovered: tuple[str, ...] = ()
    """Keys that something else writes, so generation does not."""


def card_labels(card: CardData, scheme: EffectiveScheme) -> CardLabels:
    """Which labels nodes with the card have, and who writes them."""
    writer = _writer(card, scheme)
    key = card.stated_key or scheme.product.key or _product_key(card, scheme, writer)
    values = _values(card, scheme, writer, key)
    count_key, memory_key = _number_keys(card, writer)
    discovered = _discovered(card, scheme, writer)
    known = {key, count_key, memory_key, *card.labels, *discovered} - {""}
    value = values[0] if len(values) == 1 else ""
    candidates = values if len(values) > 1 else ()
    return CardLabels(writer, key, value, candidates, count_key, memory_key, tuple(sorted(known)), discovered)


def _discovered(card: CardData, scheme: EffectiveScheme, writer: str) -> tuple[str, ...]:
    if writer in ("gfd", "vendor"):
        return card.vendor_keys
    if writer == "cloud":
        return (scheme.preset.product_keys[card.vendor], *scheme.preset.card_keys.get(card.vendor, ()))
    return ()


def _writer(card: CardData, scheme: EffectiveScheme) -> str:
    if scheme.discovery in ("", "vendor") and card.vendor in scheme.preset.product_keys:
        return "cloud"
    if scheme.discovery == "vendor" and card.vendor_product_key:
        return "vendor"
    if scheme.discovery in ("", "gfd") and card.vendor == GFD_VENDOR:
        return "gfd"
    return "manual"


def _product_key(card: CardData, scheme: EffectiveScheme, writer: str) -> str:
    """<vendor>/<type>.product, as GPU Feature Discovery has it, unless another writer uses another key."""
    if writer == "cloud":
        return scheme.preset.product_keys[card.vendor]
    if writer == "vendor":
        return card.vendor_product_key
    if card.domain:
        return f"{card.domain}/{card.card_type}.product"
    return f"{card.resource}.product" if card.product and card.resource else ""


def _values(card: CardData, scheme: EffectiveScheme, writer: str, key: str) -> tuple[str, ...]:
    if not key:
        return ()
    if key in card.labels:
        return (card.labels[key],)
    if writer == "cloud" and card.vendor == GFD_VENDOR and scheme.preset.product_values:
        return scheme.preset.product_values.get(card.product, ())
    value = card.vendor_value or card.product if writer in ("cloud", "vendor") else card.product
    return (value,) if value else ()


def _number_keys(card: CardData, writer: str) -> tuple[str, str]:
    """Keys of the count and memory labels; empty if nothing writes them."""
    if writer in ("gfd", "vendor"):
        return card.vendor_count_key, card.vendor_memory_key
    if writer == "manual" and card.domain:
        return f"{card.domain}/{card.card_type}.count", f"{card.domain}/{card.card_type}.memory"
    return "", ""
