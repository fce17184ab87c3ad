"""Nodes that stand together in a network, as Volcano's HyperNodes declare them."""

from typing import NamedTuple


class DeclaredMember(NamedTuple):
    """What belongs to a HyperNode."""

    kind: str
    """Node or HyperNode, or whatever is written."""
    selectors: tuple[str, ...] = ()
    """Which of exactMatch, regexMatch and labelMatch are there."""
    name: str = ""
    pattern: str = ""
    chosen: bool = True
    """It has a selector, whatever stands there."""


class DeclaredHyperNode(NamedTuple):
    """A HyperNode. Places of its fact: `name`, `tier_name`, `members`, and for member 0
    `0`, `0.name` and `0.pattern`, as far as they are written."""

    name: str
    tier: int | None = None
    tier_name: str = ""
    members: tuple[DeclaredMember, ...] = ()
