"""Did you mean: the nearest of the names that would have been right."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.nearest import Names

_LISTED = 8


class Candidates:
    """Names that would have been right, for many questions."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._folded: dict[str, str] = {}
        for name in self._names:
            self._folded.setdefault(_fold(name), name)
        self._known = Names(self._folded)

    def nearest(self, word: str) -> str:
        """The one that reads most like `word`, empty where none is near."""
        return self._folded.get(self._known.nearest(_fold(word)), "")

    def hint(self, word: str) -> str:
        """A hint: the nearest, else all of them where they are few."""
        near = self.nearest(word)
        if near:
            return f"did you mean {near}?"
        if not self._names or len(self._names) > _LISTED:
            return ""
        return f"there {'is' if len(self._names) == 1 else 'are'} {', '.join(self._names)}"


def nearest(word: str, candidates: Iterable[str]) -> str:
    """As `Candidates` say it, for one question."""
    return Candidates(candidates).nearest(word)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """As `Candidates` say it, for one question."""
    return Candidates(candidates).hint(word)


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
