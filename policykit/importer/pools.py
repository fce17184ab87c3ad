"""Groups of nodes as the `cards` and `pools` of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from policykit.importer import marks, names
from policykit.importer.cards import Entry, discovery
from policykit.importer.draft import Draft
from policykit.importer.groups import Group
from policykit.importer.members import cards_of, located, members
from policykit.importer.usages import UsageKey, guessed, kind_of, usage
from policykit.policy.presets import PRESETS

Named = dict[str, Group]
"""Pool name to its group."""

_KINDS = ("training", "inference", "hybrid", "")
"""The order in which pools stand."""


class Outline(NamedTuple):
    """What all pools rest on."""

    key: UsageKey
    preset: str
    discovery: str
    """Who writes the labels of cards, as the scheme states it."""
    cards: Mapping[Entry, str]
    """Names of the cards."""
    sizes: Mapping[Entry, int]
    """Cards per node where all nodes with a card agree; 0: they do not, or nobody says."""

    def usage(self, group: Group) -> tuple[str, str]:
        """Usage of a group, and what it is guessed from; the latter empty where the nodes state it."""
        return (usage(group, self.key), "") if self.key.key else guessed(group)


def add_pools(
    draft: Draft, groups: tuple[Group, ...], key: UsageKey, preset: str, card_names: Mapping[str, str]
) -> Named:
    """Writes `cards` and `pools`; `card_names` holds the names of generated files by product or resource."""
    groups = tuple(_keyed(group, preset) for group in groups)
    cards = names.card_names([group.card for group in groups if group.card], card_names)
    scheme = draft.data["scheme"]
    writer = scheme.get("discovery", "") if isinstance(scheme, dict) else ""
    outline = Outline(key, preset, writer, cards, {entry: _one_size(groups, entry) for entry in cards})
    if cards:
        draft.data["cards"] = {cards[g.card.card]: _card(g, outline) for g in groups if g.card}
    named: Named = {}
    draft.data["pools"] = {}
    for name, group in _named(outline, groups).items():
        named[name], found_by = located(group, groups)
        draft.data["pools"][name] = _pool(draft, name, named[name], outline, found_by)
    return named


def _keyed(group: Group, preset: str) -> Group:
    """A card whose label is a cloud's, under a preset that does not know it, states its label."""
    card = group.card
    if card is None or card.writer != "cloud" or card.key in PRESETS[preset].product_keys.values():
        return group
    entry = {**dict(card.card), "productKey": card.key, "labels": ((card.key, card.shown),)}
    return group._replace(card=card._replace(card=tuple(entry.items())))


def _card(group: Group, outline: Outline) -> dict[str, Any]:
    assert group.card is not None
    entry = {key: dict(value) if key == "labels" else value for key, value in group.card.card}
    number = outline.sizes[group.card.card]
    return {**entry, "perNode": number} if number and not group.card.usual else entry


def _one_size(groups: tuple[Group, ...], entry: Entry) -> int:
    having = [group for group in groups if group.card and group.card.card == entry]
    numbers = {cards_of(group, size) for group in having for size in group.sizes}
    return numbers.pop() if len(numbers) == 1 else 0


def _named(outline: Outline, groups: tuple[Group, ...]) -> Named:
    """Described pools as they are; then those for training, inference and both, cards first.

    Names that several would have are told apart by a label, else numbered.
    """

    def rank(group: Group) -> tuple[object, ...]:
        stated, _ = outline.usage(group)
        told = (_KINDS.index(kind_of(stated)), stated, not group.card, group.names[:1])
        return (0, groups.index(group)) if group.described else (1, *told)

    bases: dict[str, list[Group]] = {}
    for group in groups:
        bases.setdefault(_name(group, outline), []).append(group)
    named: Named = {}
    for group in sorted(groups, key=rank):
        base = _name(group, outline)
        endings = names.endings([each.labels for each in bases[base]])
        ending = endings[bases[base].index(group)] if len(bases[base]) > 1 else ""
        named[names.free(f"{base}-{ending}" if ending else base, named)] = group
    return named


def _name(group: Group, outline: Outline) -> str:
    if group.described:
        return names.pool_name(group.described.name, "", "", {})
    named = [key for key in marks.NODE_POOLS if key not in marks.NODE_POOL_IDS]
    pool = next((group.all_labels[key] for key in named if group.all_labels.get(key)), "")
    silent = {outline.key.key, *marks.NODE_POOL_IDS}
    others = {key: value for key, value in group.labels.items() if key not in silent}
    card = outline.cards[group.card.card] if group.card else ""
    return names.pool_name(names.plain(pool), outline.usage(group)[0], card, others)


def _pool(
    draft: Draft, name: str, group: Group, outline: Outline, found_by: dict[str, str]
) -> dict[str, Any]:
    pool: dict[str, Any] = {}
    stated, source = outline.usage(group)
    if stated:
        pool["usage"] = stated
        if source:
            draft.note(("pools", name, "usage"), f"guessed from {source}")
    if group.card:
        pool["card"] = outline.cards[group.card.card]
    pool |= members(group, found_by)
    if found_by and not group.described:
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


def _cards(draft: Draft, name: str, group: Group, outline: Outline) -> dict[str, Any]:
    """Number and sharing of the cards, and who labels them, where that does not follow by itself."""
    card = group.card
    if card is None:
        return {}
    said: dict[str, Any] = {}
    number = cards_of(group, group.sizes[0] if group.sizes else None)
    usual = card.usual or outline.sizes[card.card]
    # Where the catalogue knows of several sizes, only a stated number has a count label.
    counted = len(card.sizes) > 1 and bool(card.counted(group.all_labels))
    if number and (number != usual or counted):
        said["cardsPerNode"] = number
    if card.cut.sharing:
        said["sharing"] = dict(card.cut.sharing)
        if card.cut.guess:
            draft.note(("pools", name, "sharing"), f"guessed: {card.cut.guess}")
    writer = discovery(card, outline.preset, outline.discovery)
    return {**said, "scheme": {"discovery": writer}} if writer else said
