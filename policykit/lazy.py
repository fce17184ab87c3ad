"""References to what is imported on first use only: start-up time matters."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Lazy(NamedTuple, Generic[T]):
    """An attribute of a module that nobody has to import before it is used."""

    path: str
    """`policykit.targets.volcano.generate:generate`; the layer test follows it."""

    def load(self) -> T:
        """The attribute; its module is imported."""
        found: T = _attribute(self.path)
        return found


@cache
def _attribute(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
