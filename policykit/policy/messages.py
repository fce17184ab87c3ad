"""Parts of messages: values and alternatives, and suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


def describe(value: object) -> str:
    """A value as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value!r}" if value else "an empty text"
    return "a map" if isinstance(value, Mapping) else "a list"


def alternatives(words: Sequence[object]) -> str:
    """a, b or c."""
    names = [str(word) for word in words]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}" if names else ""
