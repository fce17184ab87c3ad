"""References to attributes that are imported on first use, which keeps start-up fast."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from policykit.namedtuple import NamedTuple

T = TypeVar("T")


class Lazy(NamedTuple, Generic[T]):
    """An attribute of a module that is imported when it is first needed."""

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
