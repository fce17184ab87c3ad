"""Instance types of clouds: whose cards they have, and how many."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from policykit.namedtuple import NamedTuple


class Machine(NamedTuple):
    """What is known of an instance type, or of all types of a family."""

    vendor: str = ""
    """Id of the vendor of its cards; empty: it has none."""
    cards: int | None = 0
    """None: that depends on the size."""


_UP_TO_16 = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")
_OF_FOUR_SIZES: Mapping[str, int] = {
    **dict.fromkeys(_UP_TO_16, 1),
    "12xlarge": 4,
    "24xlarge": 4,
    "48xlarge": 8,
}
_AWS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "g3": ("nvidia", {"4xlarge": 1, "8xlarge": 2, "16xlarge": 4}),
    "g3s": ("nvidia", {"xlarge": 1}),
    "g4ad": ("amd", {"xlarge": 1, "2xlarge": 1, "4xlarge": 1, "8xlarge": 2, "16xlarge": 4}),
    "g4dn": ("nvidia", {**dict.fromkeys(_UP_TO_16, 1), "12xlarge": 4, "metal": 8}),
    "g5": ("nvidia", _OF_FOUR_SIZES),
    "g5g": ("nvidia", {**dict.fromkeys(_UP_TO_16[:4], 1), "16xlarge": 2, "metal": 2}),
    "g6": ("nvidia", _OF_FOUR_SIZES),
    "g6e": ("nvidia", _OF_FOUR_SIZES),
    "gr6": ("nvidia", {"4xlarge": 1, "8xlarge": 1}),
    "p2": ("nvidia", {"xlarge": 1, "8xlarge": 8, "16xlarge": 16}),
    "p3": ("nvidia", {"2xlarge": 1, "8xlarge": 4, "16xlarge": 8}),
    "p3dn": ("nvidia", {"24xlarge": 8}),
    "p4d": ("nvidia", {"24xlarge": 8}),
    "p4de": ("nvidia", {"24xlarge": 8}),
    "p5": ("nvidia", {"4xlarge": 1, "48xlarge": 8}),
    "p5e": ("nvidia", {"48xlarge": 8}),
    "p5en": ("nvidia", {"48xlarge": 8}),
    "inf1": ("aws-neuron", {"xlarge": 1, "2xlarge": 1, "6xlarge": 4, "24xlarge": 16}),
    "inf2": ("aws-neuron", {"xlarge": 1, "8xlarge": 1, "24xlarge": 6, "48xlarge": 12}),
    "trn1": ("aws-neuron", {"2xlarge": 1, "32xlarge": 16}),
    "trn1n": ("aws-neuron", {"32xlarge": 16}),
    "trn2": ("aws-neuron", {"3xlarge": 1, "48xlarge": 16}),
    "dl1": ("intel-gaudi", {"24xlarge": 8}),
}
"""Family to vendor and the cards of each size. Source: EC2's tables of accelerated computing."""
_PLAIN = re.compile(r"(?:[acdmrtixzuh]|im|is|hpc|mac)[1-9][a-z0-9-]*\Z")
"""Families of AWS without cards, as their first letters say."""
_PLAIN_CATEGORIES = frozenset(
    {"a", "c", "m", "r", "t", "i", "im", "is", "x", "z", "u", "h", "d", "hpc", "mac"}
)
_G2 = {4: 1, 8: 1, 12: 1, 16: 1, 32: 1, 24: 2, 48: 4, 96: 8}
"""vCPUs of Google's g2-standard to its cards."""
_GOOGLE = re.compile(r"a[234]-(?:highgpu|megagpu|ultragpu)-([1-9][0-9]?)g(?:-[a-z]+)?\Z")
_GOOGLE_PLAIN = re.compile(r"(?:e2|n2|n2d|n4|c2|c2d|c3|c3d|c4|c4a|c4d|t2a|t2d|m[1-4]|z3|h3)-[a-z0-9-]+\Z")
_AZURE: Mapping[str, int] = {
    **{f"standard_nc{size}as_t4_v3": number for size, number in ((4, 1), (8, 1), (16, 1), (64, 4))},
    **{f"standard_nc{size}s_v3": number for size, number in ((6, 1), (12, 2), (24, 4))},
    **{f"standard_nc{size}ads_a100_v4": number for size, number in ((24, 1), (48, 2), (96, 4))},
    "standard_nc40ads_h100_v5": 1,
    "standard_nc80adis_h100_v5": 2,
    **dict.fromkeys(("standard_nd96asr_v4", "standard_nd96amsr_a100_v4", "standard_nd96isr_h100_v5"), 8),
    **dict.fromkeys(("standard_nd96isr_h200_v5", "standard_nd40rs_v2"), 8),
}


@lru_cache(maxsize=1024)
def machine(instance_type: str) -> Machine | None:
    """By the name of a type of AWS, Google or Azure; None: unknown."""
    family, _, size = instance_type.lower().partition(".")
    if size:
        found = _AWS.get(family)
        if found is None:
            return Machine() if _PLAIN.match(family) else None
        return Machine(found[0], found[1][size]) if size in found[1] else None
    if google := _GOOGLE.match(family):
        return Machine("nvidia", int(google[1]))
    number = family.removeprefix("g2-standard-")
    if number != family:
        return Machine("nvidia", _G2[int(number)]) if number.isdecimal() and int(number) in _G2 else None
    if _GOOGLE_PLAIN.match(family):
        return Machine()
    return Machine("nvidia", _AZURE[family]) if family in _AZURE else None


def of_family(family: str) -> Machine | None:
    """What all types of a family of AWS have in common; None: unknown."""
    found = _AWS.get(family.lower())
    if found is None:
        return Machine() if _PLAIN.match(family.lower()) else None
    numbers = set(found[1].values())
    return Machine(found[0], numbers.pop() if len(numbers) == 1 else None)


def of_category(category: str) -> Machine | None:
    """The same of a category, the letters that families begin with."""
    return Machine() if category.lower() in _PLAIN_CATEGORIES else None
