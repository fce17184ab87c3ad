"""The facts of a large file as compressed bytes: what is stated about its objects is much alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any
from zlib import compress, decompress

from policykit.linter.finding import Resource
from policykit.linter.interning import Interned
from policykit.linter.scope import AnyFact, LocatedFact, UnreadableText, fact_name, name_of_fact, objects_of
from policykit.workspace.cache.codec import decode, encode

_TOGETHER = 256
"""Facts that are compressed together."""
_FAST = 1
_UNREADABLE = fact_name(UnreadableText)


class PackedFacts:
    """The linter's LargeFileFacts: rows of facts by the names of their types."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.may_have_findings = False
        self.size = 0
        """Bytes of all rows."""
        self._rows: dict[str, list[bytes]] = {}
        self._last: dict[str, list[AnyFact]] = {}
        """Those that are in no row yet."""
        self._known: dict[str, Sequence[AnyFact]] = {}

    def add(self, fact: AnyFact) -> None:
        """Adds the next fact. Raises as `encode` does."""
        name = name_of_fact(fact)
        last = self._last.setdefault(name, [])
        last.append(fact)
        if isinstance(fact, LocatedFact) and not fact.answers:
            self.may_have_findings = True
        if len(last) == _TOGETHER:
            self._rows.setdefault(name, []).append(self._packed(name, last))
            last.clear()

    @property
    def names(self) -> Iterable[str]:
        return self._last

    def of(self, name: str) -> Sequence[AnyFact]:
        if name not in self._known:
            self._known[name] = tuple(map(Interned(), self._each(name)))
        return self._known[name]

    def objects(self) -> Iterable[Resource]:
        return dict.fromkeys(chain.from_iterable(objects_of(self._each(name)) for name in self.names))

    def encoded(self) -> Iterator[tuple[str, bytes]]:
        """The facts of each type as `encode` does them."""
        for name, last in self._last.items():
            rows = [*map(decompress, self._rows.get(name, ())), *encode(kind_of(name), [tuple(last)])]
            yield name, b"[%b]" % b",".join(row[1:-1] for row in rows if len(row) > len(b"[]"))

    def _each(self, name: str) -> Iterator[AnyFact]:
        for row in self._rows.get(name, ()):
            yield from decode(kind_of(name), [decompress(row)])[0]
        yield from self._last.get(name, ())

    def _packed(self, name: str, facts: Sequence[AnyFact]) -> bytes:
        (row,) = encode(kind_of(name), [tuple(facts)])
        self.size += len(row)
        return compress(row, _FAST)


_LOCATED = tuple[LocatedFact[Any], ...]
_TEXTS = tuple[UnreadableText, ...]


def kind_of(name: str) -> type[tuple[AnyFact, ...]]:
    """The type of the facts with this name, of one file."""
    return _TEXTS if name == _UNREADABLE else _LOCATED
