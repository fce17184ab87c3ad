"""Equal parts of the facts and findings of a large file, kept once.

The objects of a large file are much alike: most of what is stated about one is stated about thousands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = 20_000
"""Parts that are remembered. Then all are forgotten: those that never come again take memory too."""

_PLAIN = frozenset({str, int})
"""Of other types, some values equal values of these: True is 1, and 1.0."""


class Interned:
    """Makes equal parts of values the same object. Parts are texts, numbers, tuples, and mappings of them."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def __call__(self, value: T) -> T:
        """An equal value that shares its parts with those of earlier calls."""
        if len(self._known) > _MOST:
            self._known.clear()
        found: T = self._shared(value)
        return found

    def _shared(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return self._known.setdefault(value, value)
        if kind is dict:
            keys, items = self._all(value), self._all(value.values())
            key = (kind, *map(id, keys), *map(id, items))
            return self._known.get(key) or self._known.setdefault(key, dict(zip(keys, items, strict=True)))
        if isinstance(value, tuple):
            parts = self._all(value)
            key = (kind, *map(id, parts))
            return self._known.get(key) or self._known.setdefault(key, tuple.__new__(kind, parts))
        return value

    def _all(self, values: Iterable[Any]) -> list[Any]:
        # What is known keeps its parts, so nothing else gets their numbers.
        known, shared = self._known.setdefault, self._shared
        return [known(each, each) if type(each) in _PLAIN else shared(each) for each in values]
