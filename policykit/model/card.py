"""Accelerator cards as a cluster knows them."""

from collections.abc import Mapping
from typing import NamedTuple


class Card(NamedTuple):
    """One kind of card. `product` is the value of `product_key` on its nodes."""

    name: str
    """What the policy calls it."""
    resource: str
    """Extended resource of a whole card: nvidia.com/gpu."""
    vendor: str = ""
    """Id in the catalogue, empty for a card written in full in the policy."""
    product: str = ""
    product_key: str = ""
    count_key: str = ""
    memory_key: str = ""
    label_keys: tuple[str, ...] = ()
    """Every node label key that discovery or the scheme sets for this card."""
    memory_mib: int | None = None
    per_node: int = 0
    aliases: tuple[str, ...] = ()
    """Other right values of the product label for the same card."""
    mistaken: tuple[str, ...] = ()
    """Values people write for it: short names and wrong forms."""
    mig_profiles: Mapping[str, int] = {}
    """MIG profile to the largest count of it on one card."""
    arch: str = ""
    """Host architecture where the card fixes it (arm64 with GH200), else empty."""
