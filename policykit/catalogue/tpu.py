"""TPU slices: consistency of topology, chips per pod and number of pods."""

from __future__ import annotations

import re
from math import prod

RESOURCE = "google.com/tpu"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_FORM = re.compile(r"\d{1,4}(?:x\d{1,4}){1,2}")


def dimensions_problem(accelerator: str, topology: str) -> str:
    """Why a generation has no slices with this many dimensions, as a predicate; empty: it has."""
    sides = _sides(topology)
    if not sides:
        return ""
    from policykit.catalogue.cards import product

    card = product(accelerator)
    wanted = card.facts.get("topology_dims") if card is not None else None
    if wanted is None or len(sides) == wanted:
        return ""
    return f"has {len(sides)} numbers, {accelerator} has topologies of {wanted}"


def chips_problem(topology: str, chips: int, pods: int | None) -> str:
    """Why pods with this many chips do not form whole slices, as a predicate; empty: they may."""
    sides = _sides(topology)
    total = prod(sides)
    if not sides or chips <= 0 or total <= 0:
        return ""
    if total % chips:
        return f"is a slice of {total} chips, which pods of {chips} chips cannot fill"
    if pods is not None and pods * chips % total:
        return f"is a slice of {total} chips, but {pods} pods of {chips} chips have {pods * chips}"
    return ""


def _sides(topology: str) -> tuple[int, ...]:
    return tuple(map(int, topology.split("x"))) if _FORM.fullmatch(topology) else ()
