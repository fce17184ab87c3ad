"""The systems that a run knows, with what their readers need."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from policykit.linter.configurations import Configuration
from policykit.linter.target import FactReader, Target


class Systems(NamedTuple):
    """All systems of a run."""

    targets: tuple[Target, ...] = ()
    readers: tuple[FactReader, ...] = ()
    """Those of the targets, and of facts that concern all of them."""
    configurations: tuple[Configuration, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """What `without` may be asked for."""
        return _words(self.readers)

    def without(self, absent: frozenset[str]) -> Systems:
        """With the readers only that may find something in a text without these of the words."""
        return self._replace(readers=_readers(self.readers, absent & self.words))


@lru_cache(maxsize=8)
def _words(readers: tuple[FactReader, ...]) -> frozenset[str]:
    return frozenset(word for reader in readers for word in reader.words)


@lru_cache(maxsize=1_000)
def _readers(readers: tuple[FactReader, ...], absent: frozenset[str]) -> tuple[FactReader, ...]:
    return tuple(each for each in readers if not (each.words and absent.issuperset(each.words)))
