"""Lists that a patch replaces as a whole, in objects and patches."""

from typing import NamedTuple


class WrittenList(NamedTuple):
    """A list. Places of its fact: `list`."""

    group: str
    kind: str
    namespace: str
    """Empty: none written."""
    name: str
    field: str
    """Its path in words: `spec.template.spec.tolerations`."""
    items: tuple[str, ...]
    """Each item as JSON, or for named items `name` and the names of their fields."""
    named: bool = False
    patch: bool = False
    """Written by a patch."""
