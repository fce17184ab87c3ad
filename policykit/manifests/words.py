"""The words of an object, for rules that look for a few of them: most objects have none."""

from __future__ import annotations

from typing import NamedTuple

from policykit.manifests.once import once


class Words(NamedTuple):
    """What an object is written with, at any depth."""

    keys: frozenset[str]
    """Of its mappings."""
    texts: frozenset[str]
    """Values that are text."""

    def begin(self, beginnings: tuple[str, ...]) -> bool:
        """Whether a key begins with one of these."""
        return any(key.startswith(beginnings) for key in self.keys)

    def end(self, ends: tuple[str, ...]) -> bool:
        """Whether a key ends with one of these."""
        return any(key.endswith(ends) for key in self.keys)


@once
def words(data: object) -> Words:
    """The words of plain data."""
    keys: set[str] = set()
    texts: set[str] = set()
    pending = [data]
    while pending:
        found = pending.pop()
        if isinstance(found, str):
            texts.add(found)
        elif isinstance(found, dict):
            keys.update(found)
            pending.extend(found.values())
        elif isinstance(found, list):
            pending.extend(found)
    return Words(frozenset(key for key in keys if isinstance(key, str)), frozenset(texts))
