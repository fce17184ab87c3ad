"""Suggestions for unknown names: the nearest of the valid ones."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.nearest import Names

_LISTED = 8


class Candidates:
    """Valid names, prepared for many lookups."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._folded: dict[str, str] = {}
        for name in self._names:
            self._folded.setdefault(_fold(name), name)
        self._known = Names(self._folded)

    def nearest(self, word: str) -> str:
        """The name most similar to `word`; empty if none is near."""
        return self._folded.get(self._known.nearest(_fold(word)), "")

    def hint(self, word: str) -> str:
        """A hint: the nearest name, else all names if there are few."""
        near = self.nearest(word)
        if near:
            return f"did you mean {near}?"
        if not self._names or len(self._names) > _LISTED:
            return ""
        return f"known: {', '.join(self._names)}"


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The same as the method of `Candidates`, for one lookup."""
    return Candidates(candidates).nearest(word)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The same as the method of `Candidates`, for one lookup."""
    return Candidates(candidates).hint(word)


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
