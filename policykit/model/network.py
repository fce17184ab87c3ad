"""Groups of nodes in a network: Volcano's HyperNodes."""

from typing import NamedTuple


class DeclaredMember(NamedTuple):
    """Members of a HyperNode."""

    kind: str
    """Node or HyperNode, as written."""
    selectors: tuple[str, ...] = ()
    """Which of exactMatch, regexMatch and labelMatch are set."""
    name: str = ""
    pattern: str = ""
    chosen: bool = True
    """It has a selector of any content."""


class DeclaredHyperNode(NamedTuple):
    """A HyperNode. Places of its fact: `name`, `tier_name`, `members`, and for member 0
    `0`, `0.name` and `0.pattern`, as far as they are written."""

    name: str
    tier: int | None = None
    tier_name: str = ""
    members: tuple[DeclaredMember, ...] = ()
