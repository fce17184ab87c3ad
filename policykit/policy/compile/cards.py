"""Cards: each card's entry in the policy, completed from the catalogue."""

from __future__ import annotations

from policykit.catalogue import cards as catalogue
from policykit.catalogue import resources, suggestions
from policykit.kube.names import is_extended, label_key_problem, label_value_problem
from policykit.manifests.path import Path
from policykit.model.pool import Card
from policykit.model.quantity import parse
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.scheme import CardData, EffectiveScheme, card_labels
from policykit.policy.models import pool as written
from policykit.policy.presets import PRESETS, Preset
from policykit.policy.problems import nearest

_MIB = 1024 * 1024


def collect_cards(draft: Draft) -> dict[str, CardData]:
    """The valid cards; reports mistakes in the others."""
    found = {}
    for name, stated in draft.policy.cards.items():
        _check(draft, ("cards", name), stated)
        card = _card_data(draft, name, stated)
        if card is not None:
            found[name] = card
    return found


def compile_card(draft: Draft, card: CardData, scheme: EffectiveScheme) -> Card:
    """The card under the cluster's scheme."""
    labels = card_labels(card, scheme)
    path: Path = ("cards", card.name, "product")
    if labels.candidates:
        names = " and ".join(labels.candidates)
        message = f"{scheme.preset.provider} has several names for {card.product}: {names}"
        draft.problems.error(path, message, f"add labels: {{{labels.product_key}: {labels.candidates[0]}}}")
    elif labels.product_key and not labels.product and card.product:
        message = f"the name of {card.product} on {scheme.preset.provider} is unknown"
        draft.problems.notice(path, message, f"add labels: {{{labels.product_key}: VALUE}}")
    own_name = labels.product == card.product
    return Card(
        card.name,
        card.resource,
        card.vendor,
        labels.product,
        labels.product_key,
        labels.count_key,
        labels.memory_key,
        labels.keys,
        card.memory_mib,
        card.per_node,
        card.aliases if own_name else (),
        card.mistaken if own_name else (card.product, *card.aliases, *card.mistaken),
        card.mig_profiles,
        card.arch,
    )


def _card_data(draft: Draft, name: str, stated: written.Card) -> CardData | None:
    path: Path = ("cards", name)
    if not stated.product:
        if stated.resource:
            return _written_in_full(name, stated)
        draft.problems.error(
            path, f"card {name!r} has neither product nor resource", "add product: NVIDIA-H20", key=True
        )
        return None
    product = catalogue.product(stated.product)
    if product is not None:
        return _from_catalogue(name, stated, product)
    product = _product_of_cloud(draft, stated.product)
    if product is not None:
        preset = _preset(draft)
        key = stated.product_key or preset.product_keys[product.vendor]
        labels = {key: stated.product, **stated.labels}
        return _from_catalogue(
            name, stated.model_copy(update={"product": product.product, "labels": labels}), product
        )
    if stated.resource:
        return _written_in_full(name, stated)
    maker = suggestions.maker(stated.product)
    if maker is not None and maker.resource:
        draft.problems.notice(
            (*path, "product"),
            f"the catalogue has no product {stated.product!r}: it is judged as a card of {maker.name} "
            f"({maker.resource}) of unknown size",
            "state perNode and memory",
        )
        return _written_in_full(name, stated.model_copy(update={"resource": maker.resource}))
    _report_unknown(draft, (*path, "product"), stated.product)
    return None


def _preset(draft: Draft) -> Preset:
    scheme = draft.policy.scheme
    return PRESETS[scheme if isinstance(scheme, str) else scheme.preset or "seed"]


def _product_of_cloud(draft: Draft, name: str) -> catalogue.Product | None:
    """The card that the cloud of the policy's scheme has a name for; None: it has no such name."""
    values = _preset(draft).product_values
    return next((catalogue.product(product) for product, names in values.items() if name in names), None)


def _written_in_full(name: str, stated: written.Card) -> CardData:
    """A card that is not in the catalogue; its vendor follows from its resource if that is known."""
    card = CardData(
        name,
        stated.resource,
        product=stated.product,
        stated_key=stated.product_key,
        labels=dict(stated.labels),
        memory_mib=_mib(stated),
        per_node=stated.per_node or 0,
    )
    resource = resources.resource(stated.resource)
    owner = catalogue.vendor(resource.vendor) if resource else None
    return _with_vendor(card, owner) if owner else card


def _from_catalogue(name: str, stated: written.Card, product: catalogue.Product) -> CardData:
    vendor = catalogue.vendor(product.vendor)
    assert vendor is not None, "every product in the catalogue has a vendor"
    card = CardData(
        name,
        stated.resource or product.resource or vendor.resource,
        product=stated.product,
        stated_key=stated.product_key,
        labels=dict(stated.labels),
        vendor_value=product.native_value,
        aliases=tuple(value for value in (product.product, *product.aliases) if value != stated.product),
        mistaken=(*product.short, *product.wrong),
        memory_mib=_mib(stated) or product.memory_mib,
        per_node=max(product.cards_per_node, default=0) if stated.per_node is None else stated.per_node,
        per_node_sure=stated.per_node is not None or len(product.cards_per_node) == 1,
        mig_profiles={**product.older_mig_profiles, **product.mig_profiles},
        arch=product.arch,
    )
    return _with_vendor(card, vendor)


def _with_vendor(card: CardData, vendor: catalogue.Vendor) -> CardData:
    return card._replace(
        vendor=vendor.vendor,
        # A card written in full without product has no product label either.
        domain=vendor.domain if card.product else "",
        card_type=vendor.card,
        vendor_product_key=vendor.product_key,
        vendor_count_key=vendor.count_key,
        vendor_memory_key=vendor.memory_key,
        vendor_keys=vendor.label_keys,
    )


def _mib(stated: written.Card) -> int | None:
    quantity = parse(stated.memory)
    return quantity.units // _MIB if quantity else None


def _report_unknown(draft: Draft, path: Path, product: str) -> None:
    """Reports a product that no node is labelled with, and suggests the values that may be meant."""
    cut = catalogue.variant(product)
    if cut is not None:
        message = f"{product!r} is the label value of partitioned or shared cards"
        hint = f"set product to {cut.product.product}, and sharing in the pool"
        draft.problems.error(path, message, hint)
        return
    names = [card.product for card in suggestions.candidates(product)]
    if names:
        several = ", whichever is the product label of the nodes" if len(names) > 1 else ""
        hint = f"use {' or '.join(names)}{several}"
        draft.problems.error(path, f"no node has the product label {product!r}, a short or wrong name", hint)
        return
    near = nearest(product, (card.product for card in catalogue.products()))
    lacking = "a card that is not in the catalogue also needs resource"
    hint = f"did you mean {near}? If not: {lacking}" if near else lacking
    draft.problems.error(path, f"the catalogue has no product {product!r}", hint)


def _check(draft: Draft, path: Path, stated: written.Card) -> None:
    if stated.product and stated.resource:
        draft.check((*path, "product"), f"product {stated.product!r}", label_value_problem(stated.product))
    if stated.product_key:
        draft.check(
            (*path, "productKey"), f"label key {stated.product_key!r}", label_key_problem(stated.product_key)
        )
    if stated.resource and not is_extended(stated.resource):
        message = f"{stated.resource!r} is not an extended resource"
        draft.problems.error((*path, "resource"), message, "use domain/name, for example nvidia.com/gpu")
    for key in stated.labels:
        draft.check((*path, "labels", key), f"label key {key!r}", label_key_problem(key), key=True)
