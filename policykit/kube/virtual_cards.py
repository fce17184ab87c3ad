"""Virtual cards of a node, as the device plugins of HAMi and Volcano register them.

Both write an annotation with every physical card: HAMi a JSON list, or in releases before 2.6 one
text for each card; Volcano's plugin one text for each card too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from policykit.model.virtual_cards import HAMI, VOLCANO, VirtualCards

_ANNOTATIONS = {HAMI: "hami.io/node-nvidia-register", VOLCANO: "volcano.sh/node-vgpu-register"}
_MOST = 1 << 16
"""Longest annotation that is read."""


def registered(annotations: Mapping[str, object]) -> VirtualCards | None:
    """What the device plugin of a node has registered; None: nothing, or nothing that can be read."""
    for mode, key in _ANNOTATIONS.items():
        text = annotations.get(key)
        if isinstance(text, str) and len(text) < _MOST:
            found = [*(_listed(text) if text.lstrip().startswith("[") else _written(text))]
            if found:
                slots, memory = zip(*found, strict=True)
                return VirtualCards(mode, len(found), min(slots), sum(memory) if min(memory) else 0)
    return None


def _listed(text: str) -> Iterator[tuple[int, int]]:
    """Slots and MiB of each card of a JSON list."""
    try:
        cards = json.loads(text)
    except (ValueError, RecursionError):
        return
    for card in cards if isinstance(cards, list) else ():
        if isinstance(card, dict):
            slots, memory = _number(card.get("count")), _number(card.get("devmem"))
            if slots:
                yield slots, memory


def _written(text: str) -> Iterator[tuple[int, int]]:
    """The same of `id,slots,MiB,...:` for each card."""
    for card in text.split(":"):
        fields = card.split(",")
        if len(fields) > 3 and (slots := _number(fields[1])):
            yield slots, _number(fields[2])


def _number(raw: object) -> int:
    """A number of a sensible size; else 0."""
    if isinstance(raw, str) and raw.isascii() and raw.isdecimal() and len(raw) < 8:
        raw = int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 < raw < 10_000_000 else 0
