"""Groups of nodes as the `cards` and `pools` of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.importer import names, node_labels
from policykit.importer.cards import CardEntry, discovery
from policykit.importer.draft import Draft
from policykit.importer.groups import Group
from policykit.importer.pool_nodes import cards_per_node, node_fields, selected_nodes
from policykit.importer.usages import UsageKey, guessed_usage, kind_of, usage
from policykit.policy.presets import PRESETS

PoolGroups = dict[str, Group]
"""Pool name to group."""

_KINDS = ("training", "inference", "hybrid", "")
"""The order of pools in the policy."""


class PoolContext(NamedTuple):
    """What all pools share."""

    key: UsageKey
    preset: str
    discovery: str
    """Who writes the labels of cards according to the scheme."""
    cards: Mapping[CardEntry, str]
    """Card entry to name."""
    sizes: Mapping[CardEntry, int]
    """Cards per node if all nodes with the card agree; 0: they differ, or it is unknown."""

    def usage(self, group: Group) -> tuple[str, str]:
        """Usage of a group, and what it is guessed from; the latter is empty if the nodes state the usage."""
        return (usage(group, self.key), "") if self.key.key else guessed_usage(group)


def add_pools(
    draft: Draft, groups: tuple[Group, ...], key: UsageKey, preset: str, card_names: Mapping[str, str]
) -> PoolGroups:
    """Writes `cards` and `pools`; `card_names` maps product or resource to the name in generated files."""
    groups = tuple(_with_product_key(group, preset) for group in groups)
    cards = names.card_names([group.card for group in groups if group.card], card_names)
    scheme = draft.data["scheme"]
    writer = scheme.get("discovery", "") if isinstance(scheme, dict) else ""
    outline = PoolContext(key, preset, writer, cards, {entry: _one_size(groups, entry) for entry in cards})
    if cards:
        draft.data["cards"] = {cards[g.card.card]: _card(g, outline) for g in groups if g.card}
    named: PoolGroups = {}
    draft.data["pools"] = {}
    for name, group in _by_name(outline, groups).items():
        named[name], found_by = selected_nodes(group, groups)
        draft.data["pools"][name] = _pool(draft, name, named[name], outline, found_by)
    return named


def _with_product_key(group: Group, preset: str) -> Group:
    """The group with its product label stated, if a cloud wrote it and the preset does not know it."""
    card = group.card
    if card is None or card.writer != "cloud" or card.key in PRESETS[preset].product_keys.values():
        return group
    entry = {**dict(card.card), "productKey": card.key, "labels": ((card.key, card.label_value),)}
    return group._replace(card=card._replace(card=tuple(entry.items())))


def _card(group: Group, outline: PoolContext) -> dict[str, Any]:
    assert group.card is not None
    entry = {key: dict(value) if key == "labels" else value for key, value in group.card.card}
    number = outline.sizes[group.card.card]
    return {**entry, "perNode": number} if number and not group.card.default_count else entry


def _one_size(groups: tuple[Group, ...], entry: CardEntry) -> int:
    having = [group for group in groups if group.card and group.card.card == entry]
    numbers = {cards_per_node(group, size) for group in having for size in group.sizes}
    return numbers.pop() if len(numbers) == 1 else 0


def _by_name(outline: PoolContext, groups: tuple[Group, ...]) -> PoolGroups:
    """Generated pools in their order; then pools for training, inference and both, cards first.

    Names that several would have are told apart by a label, else numbered.
    """

    def rank(group: Group) -> tuple[object, ...]:
        stated, _ = outline.usage(group)
        order = (_KINDS.index(kind_of(stated)), stated, not group.card, group.names[:1])
        return (0, groups.index(group)) if group.generated else (1, *order)

    bases: dict[str, list[Group]] = {}
    for group in groups:
        bases.setdefault(_name(group, outline), []).append(group)
    named: PoolGroups = {}
    for group in sorted(groups, key=rank):
        base = _name(group, outline)
        endings = names.endings([each.labels for each in bases[base]])
        ending = endings[bases[base].index(group)] if len(bases[base]) > 1 else ""
        named[names.free(f"{base}-{ending}" if ending else base, named)] = group
    return named


def _name(group: Group, outline: PoolContext) -> str:
    if group.generated:
        return names.pool_name(group.generated.name, "", "", {})
    named = [key for key in node_labels.NODE_POOLS if key not in node_labels.NODE_POOL_IDS]
    pool = next((group.all_labels[key] for key in named if group.all_labels.get(key)), "")
    silent = {outline.key.key, *node_labels.NODE_POOL_IDS}
    others = {key: value for key, value in group.labels.items() if key not in silent}
    card = outline.cards[group.card.card] if group.card else ""
    return names.pool_name(names.plain(pool), outline.usage(group)[0], card, others)


def _pool(
    draft: Draft, name: str, group: Group, outline: PoolContext, found_by: dict[str, str]
) -> dict[str, Any]:
    pool: dict[str, Any] = {}
    stated, source = outline.usage(group)
    if stated:
        pool["usage"] = stated
        if source:
            draft.note(("pools", name, "usage"), f"guessed from {source}")
    if group.card:
        pool["card"] = outline.cards[group.card.card]
    pool |= node_fields(group, found_by)
    if found_by and not group.generated:
        total = len(group.names)
        draft.note(("pools", name, "nodes"), f"{total} {'node' if total == 1 else 'nodes'} now")
    pool |= _cards(draft, name, group, outline)
    labels = {k: v for k, v in group.labels.items() if k not in found_by}
    if stated and outline.key.labelled:
        labels.pop(outline.key.key, None)
    if len(group.sizes) == 1:
        labels |= group.sizes[0].place
    if labels:
        pool["labels"] = labels
    if group.cordoned:
        pool["unschedulable"] = True
        draft.note(("pools", name, "unschedulable"), "all its nodes are cordoned now")
    return pool


def _cards(draft: Draft, name: str, group: Group, outline: PoolContext) -> dict[str, Any]:
    """Number, sharing and discovery of the cards if they differ from the defaults."""
    card = group.card
    if card is None:
        return {}
    fields: dict[str, Any] = {}
    number = cards_per_node(group, group.sizes[0] if group.sizes else None)
    usual = card.default_count or outline.sizes[card.card]
    # If the catalogue lists several sizes, gen writes a count label only for a stated number.
    counted = len(card.sizes) > 1 and bool(card.label_count(group.all_labels))
    if number and (number != usual or counted):
        fields["cardsPerNode"] = number
    if card.sharing.options:
        fields["sharing"] = dict(card.sharing.options)
        if card.sharing.guess:
            draft.note(("pools", name, "sharing"), f"guessed: {card.sharing.guess}")
    writer = discovery(card, outline.preset, outline.discovery)
    return {**fields, "scheme": {"discovery": writer}} if writer else fields
