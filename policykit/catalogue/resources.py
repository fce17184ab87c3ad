"""Extended resources by name: their vendor and unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from policykit import bundled
from policykit.namedtuple import NamedTuple

CARD_ROLES = frozenset({"card", "shared", "partition", "memory", "core", "passthrough"})
"""Roles of resources that provide an accelerator or a part of one."""


class Resource(NamedTuple):
    """A resource name that a device plugin or a scheduler offers."""

    name: str
    role: str
    """card, shared, partition, memory, core, passthrough, network, accounting or setting."""
    vendor: str = ""
    """Id of the vendor that owns the name; empty for network resources of any maker."""
    unit: str = ""
    """What 1 means: card, MiB, percent, ..."""
    when: str = ""
    """The setting or system that the name requires; empty: none."""
    offered_by: tuple[str, ...] = ()
    """Every vendor id whose plugin offers this name."""
    older: bool = False
    """Deprecated, or from an older plugin."""
    gone: str = ""
    """The release from which on no plugin offers it."""
    excludes: tuple[str, ...] = ()
    maximum: int | None = None
    allowed: tuple[int, ...] = ()
    """The only amounts accepted; empty: any."""
    fixed: bool = True
    """False: an administrator chooses the name."""
    per_node: Mapping[str, int] = {}
    """Instance type to the amount on such a node."""

    @property
    def is_card(self) -> bool:
        return self.role in CARD_ROLES


@lru_cache(maxsize=1024)
def resource(name: str) -> Resource | None:
    """The known resource with this name, or matching a pattern of its domain."""
    table = _table()
    entry = table["names"].get(name)
    if entry is not None:
        return _resource(name, entry)
    for pattern in table["patterns"].get(name.partition("/")[0], ()):
        if re.search(pattern["pattern"], name) and not _is_misspelt(pattern, name):
            return _resource(name, pattern)
    return None


def is_card(name: str) -> bool:
    """Whether a request for it is a request for an accelerator or a part of one.

    Network resources, bookkeeping names and unknown names are no cards.
    """
    found = resource(name)
    return found is not None and found.is_card


def card_resources() -> tuple[str, ...]:
    """Every card resource with a fixed name, sorted; patterns are not included."""
    names = _table()["names"]
    return tuple(sorted(name for name, entry in names.items() if entry["role"] in CARD_ROLES))


def examples() -> tuple[str, ...]:
    """One name for each pattern of card resources, sorted: nvidia.com/mig-1g.5gb."""
    patterns = (entry for found in _table()["patterns"].values() for entry in found)
    return tuple(sorted(entry["example"] for entry in patterns if entry["role"] in CARD_ROLES))


def known_domain(name: str) -> bool:
    """Whether the resource name is in the domain of a card vendor or card scheduler."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain in _table()["claims"]


def mig_resource(profile: str) -> str:
    """Resource of a MIG profile with strategy mixed: 1g.10gb+me is nvidia.com/mig-1g.10gb.me."""
    return f"nvidia.com/mig-{profile.replace('+', '.')}"


def alternatives(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of alternative resources, of which a pod requests only one; sorted."""
    return list(_alternatives(frozenset(names)))


@lru_cache(maxsize=1024)  # most pods ask for the same few resources
def _alternatives(asked: frozenset[str]) -> tuple[tuple[str, str], ...]:
    found = {
        (one, other)
        for pairs in _table()["exclusive"].values()
        for written, against in pairs
        for one in asked
        if _covers(written, one)
        for other in asked
        if _covers(against, other)
    }
    found |= {(each.name, other) for each in filter(None, map(resource, asked)) for other in each.excludes}
    return tuple(sorted({(min(pair), max(pair)) for pair in found if asked.issuperset(pair)}))


def _covers(written: str, name: str) -> bool:
    return name.startswith(written) if written.endswith("-") else name == written


def _is_misspelt(pattern: Mapping[str, Any], name: str) -> bool:
    # Device names of virtual machines are upper case, and so is nvidia.com/GPU.
    return pattern["role"] == "passthrough" and name.lower() in _table()["names"]


def _resource(name: str, entry: Mapping[str, Any]) -> Resource:
    return Resource(
        name,
        entry["role"],
        entry.get("vendor", ""),
        entry.get("unit", ""),
        entry.get("when", ""),
        tuple(entry.get("offered_by", [entry["vendor"]] if "vendor" in entry else ())),
        entry.get("older", False),
        entry.get("gone", ""),
        tuple(entry.get("excludes", ())),
        entry.get("max"),
        tuple(entry.get("allowed", ())),
        entry.get("fixed", True),
        entry.get("per_node", {}),
    )


@cache
def _table() -> Any:
    return bundled.table("profiles", "compiled", "resources.json")
