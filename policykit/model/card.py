"""Accelerator cards of a cluster."""

from collections.abc import Mapping
from typing import NamedTuple


class Card(NamedTuple):
    """A card model. `product` is the value of `product_key` on its nodes."""

    name: str
    """Name in the policy."""
    resource: str
    """Extended resource of a whole card: nvidia.com/gpu."""
    vendor: str = ""
    """Id in the catalogue; empty: the policy defines the card in full."""
    product: str = ""
    product_key: str = ""
    count_key: str = ""
    memory_key: str = ""
    label_keys: tuple[str, ...] = ()
    """Every node label key that discovery or the scheme sets for this card."""
    memory_mib: int | None = None
    per_node: int = 0
    aliases: tuple[str, ...] = ()
    """Other correct values of the product label for the same card."""
    mistaken: tuple[str, ...] = ()
    """Informal names: short names and wrong forms."""
    mig_profiles: Mapping[str, int] = {}
    """MIG profile to its largest number on one card."""
    arch: str = ""
    """Host architecture if the card determines it (arm64 with GH200), else empty."""
