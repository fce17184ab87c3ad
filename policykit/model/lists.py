"""Lists that a patch replaces whole, as an object and its patches write them."""

from typing import NamedTuple


class WrittenList(NamedTuple):
    """Such a list. Places of its fact: `list`."""

    group: str
    kind: str
    namespace: str
    """Empty: none written."""
    name: str
    field: str
    """Where it stands, in words: `spec.template.spec.tolerations`."""
    items: tuple[str, ...]
    """Each as JSON, or where items have names `name` and the fields they have."""
    named: bool = False
    patch: bool = False
    """Written by a patch."""
