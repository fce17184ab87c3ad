"""PriorityClasses as objects declare them, and who names one."""

from typing import NamedTuple


class DeclaredPriority(NamedTuple):
    """A PriorityClass object. Places of its fact: `name`, `value`, `default`."""

    name: str
    value: int | None
    """None: not a whole number (a placeholder)."""
    default: bool = False


class PriorityUse(NamedTuple):
    """Pods, or a gang, of a priority. Places of its fact: `name`."""

    name: str
    scheduler: str = ""
    """schedulerName of the pods; empty: none written."""
