"""Names for pools and cards, and node names as ranges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from policykit.catalogue import cards as catalogue
from policykit.importer.cards import CardEntry, NodeCard
from policykit.kube.names import dns_subdomain_problem

_NOT_DNS = re.compile(r"[^a-z0-9]+")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})\Z")
_MAKER = re.compile(r"(?:NVIDIA-(?:GeForce-)?|Tesla-|AMD-Instinct-|Iluvatar-|MTT-)")
_LONGEST = 40
_SHORT = 8


def plain(text: str) -> str:
    """Text as part of an object's name; empty if nothing remains."""
    return _NOT_DNS.sub("-", text.lower())[:_LONGEST].strip("-")


def free(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def card_names(cards: Iterable[NodeCard], stated: Mapping[str, str]) -> dict[CardEntry, str]:
    """Card entries to short names: `stated` (product or resource to name) first, else by the product.

    NVIDIA-H20 is h20; cards that share a short name get their full one.
    """
    found: dict[CardEntry, str] = {}
    entries = {card.entry: card for card in cards}
    for entry, card in entries.items():
        short_name = stated.get(card.product) or stated.get(card.resource if not card.product else "", "")
        if short_name and short_name not in found.values():
            found[entry] = short_name
    shorts = {entry: _short(card) for entry, card in entries.items()}
    for entry in entries:
        if entry not in found:
            alone = list(shorts.values()).count(shorts[entry]) == 1
            name = shorts[entry] if alone else _bare(entries[entry]) or shorts[entry]
            found[entry] = free(name or "card", [*found.values()])
    return found


def _short(card: NodeCard) -> str:
    product = catalogue.product(card.product) if card.product else None
    bare = _bare(card)
    if product and product.short and len(bare) > _SHORT:
        return plain(product.short[0])
    if bare:
        return bare
    return plain(card.resource.partition("/")[2])


def _bare(card: NodeCard) -> str:
    """The product without its vendor."""
    return plain(_MAKER.sub("", card.product, count=1))


def pool_name(stated: str, usage: str, card: str, labels: Mapping[str, str]) -> str:
    """Name of a pool: the name of the node pool, else usage and card, else a label, else cpu."""
    if stated and not dns_subdomain_problem(stated):
        return stated
    from_usage = "-".join(part for part in (plain(usage), plain(card)) if part)
    if plain(stated) or from_usage:
        return plain(stated) or from_usage
    for key, value in sorted(labels.items()):
        word = plain(value) or plain(key.rpartition("/")[2])
        if word and value not in ("true", "yes", "on"):
            return word
    return next((plain(key.rpartition("/")[2]) for key in sorted(labels)), "") or "cpu"


def suffixes(labels: Sequence[Mapping[str, str]]) -> list[str]:
    """Suffixes for pools with the same name: the values of the first label that differs; else empty."""
    for key in sorted({key for each in labels for key in each}):
        values = [plain(each.get(key, "")) for each in labels]
        if len(set(values)) == len(values):
            return values
    return [""] * len(labels)


def ranges(names: Iterable[str]) -> list[str]:
    """Node names with consecutive numbers as ranges: train-[01-16]."""
    found: list[list[str]] = []
    for name in sorted(names):
        if found and _follows(found[-1][-1], name):
            found[-1].append(name)
        else:
            found.append([name])
    return [text for run in found for text in _folded(run)]


def _follows(one: str, two: str) -> bool:
    first, second = _NUMBERED.match(one), _NUMBERED.match(two)
    return bool(
        first
        and second
        and first[1] == second[1]
        and len(first[2]) == len(second[2])
        and int(second[2]) == int(first[2]) + 1
    )


def _folded(run: list[str]) -> list[str]:
    first, last = _NUMBERED.match(run[0]), _NUMBERED.match(run[-1])
    if len(run) < 3 or not first or not last:
        return run
    return [f"{first[1]}[{first[2]}-{last[2]}]"]
