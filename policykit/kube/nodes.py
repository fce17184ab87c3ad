"""Node objects: a node as a pool, and the virtual cards that its device plugin registers.

Both write an annotation with every physical card: HAMi a JSON list, or in releases before 2.6 one
text for each card; Volcano's plugin one text for each card too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.names import is_extended
from policykit.kube.requests import amounts
from policykit.kube.tolerations import read_taints
from policykit.manifests.shape import mapping, mappings
from policykit.model.pool import Pool, Shape
from policykit.model.shared_cards import HAMI, NAMES, VOLCANO, VirtualCards

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


def read(node: Mapping[str, Any]) -> Pool:
    """A Node object as a pool of one node, with its allocatable (pods included), else its capacity."""
    metadata, spec, status = (mapping(node.get(part)) for part in ("metadata", "spec", "status"))
    name = metadata.get("name")
    name = name if isinstance(name, str) else ""
    labels = {k: v for k, v in mapping(metadata.get("labels")).items() if isinstance(v, str)}
    allocatable = amounts(status.get("allocatable")) or amounts(status.get("capacity"))
    virtual = registered(mapping(metadata.get("annotations")))
    if virtual and allocatable.get(NAMES[virtual.mode].cards):
        # The plugin's scheduler counts memory and cores, which the kubelet may not report.
        allocatable = {**{r: n for r, n in virtual.amounts().items() if n}, **allocatable}
    devices = sorted(r for r, counted in allocatable.items() if counted and is_extended(r))
    return Pool(
        name,
        (Shape(allocatable, 1, 1, (name,)),),
        labels,
        read_taints(spec.get("taints")),
        resources=tuple(devices),
        unschedulable=spec.get("unschedulable") is True,
        ready=not any(
            one.get("type") == "Ready" and one.get("status") != "True"
            for one in mappings(status.get("conditions"))
        ),
    )


def labels_of(node: Pool) -> dict[str, str]:
    """Every label of a one-node pool."""
    return {**node.labels, **node.shapes[0].labels}
