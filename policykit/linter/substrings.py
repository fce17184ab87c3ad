"""Which of the texts that rules and readers of facts look for are in a file: most files have few of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from policykit.extension import compiled

_ESCAPES = ("\\x", "\\u", "\\U", "\\/", *(f"\\{line_break}" for line_break in "\n\r\x85\u2028\u2029"))
"""With these a quoted scalar in YAML or JSON can contain a word that is not in the text."""

_LONG = 8_000
"""Characters of a line of which it is not remembered which words it contains."""
_MOST_LINES = 2_048
"""Lines of which that is remembered."""


def absent_substrings(text: str, words: frozenset[str]) -> frozenset[str]:
    """Those of the words that certainly no scalar in a YAML or JSON text contains."""
    if "\\" in text and any(escape in text for escape in _ESCAPES):
        return frozenset()
    if compiled and (found := compiled.absent(text, _listed(words))) is not None:
        return _as_set(found)
    return absent_in_python(text, words)


@lru_cache(maxsize=64)
def _listed(words: frozenset[str]) -> tuple[str, ...]:
    return tuple(words)


@lru_cache(maxsize=1024)  # files of a tree lack the same words
def _as_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words)


_PART = 1_000_000
"""Characters that are searched together."""
_COMMON = (
    *("er", "or", "od", "e-", "ol", "ti", "co", "ar", ".io", "um", "ce", "at", "ue", "ix", "host", "gr"),
    *("ed", "en", "IBL", "-tp", "Re", "em", "ot", "mi", "ni"),
)
"""Parts that several of the words have and few lines: a search for one stands for those for all its words.
Chosen one after the other, each as the one that saves most searches in lines of the manifests at hand."""


_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def _by_common_part(words: frozenset[str]) -> tuple[tuple[str, Collection[str]], ...]:
    """The words under the part that each has; others under an empty one, which any text contains."""
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(next((part for part in _COMMON if part in word), ""), []).append(word)
    return tuple((part, tuple(own)) for part, own in found.items())


def absent_in_python(text: str, words: frozenset[str]) -> frozenset[str]:
    """The words that a text does not contain, without the extension."""
    if len(text) <= _PART:
        return _absent(text, words)
    return frozenset.intersection(*(_absent(part, words) for part in _parts(text)))


def _parts(text: str) -> Iterator[str]:
    """Whole lines of a large text, of which a list would take several times its memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PART) + 1 or len(text)
        yield text[start:end]
        start = end


def _absent(text: str, words: frozenset[str]) -> frozenset[str]:
    """Each line is searched once: files of a tree, and documents of a file, have most of theirs in common."""
    lines = {*text.split("\n")}
    known = _known_lines(words)
    if len(known) > _MOST_LINES:
        known.clear()
    new = [line for line in lines if line not in known]
    if new:
        # Few of the words are in what is new, and few of its lines have one.
        joined = "\n".join(new)
        parts = _by_common_part(words) if known else (("", words),)  # not worth it for one file
        there = [word for part, own in parts if part in joined for word in own if word in joined]
        # Most lines have none of them; an empty set of its own for each would be larger than the line.
        of_lines = ((line, [word for word in there if word in line]) for line in new)
        found = {line: frozenset(own) if own else _NONE for line, own in of_lines}
        if len(found) <= _MOST_LINES and (len(text) < _LONG or max(map(len, new)) < _LONG):
            known.update(found)
        else:
            known = {**known, **found}
    return _others(words, frozenset().union(*filter(None, map(known.__getitem__, lines))))


@lru_cache(maxsize=8)
def _known_lines(words: frozenset[str]) -> dict[str, frozenset[str]]:
    """Short lines, and which of the words each contains; no line ends in a word."""
    return {}


@lru_cache(maxsize=1024)  # files of a tree lack the same words
def _others(words: frozenset[str], found: frozenset[str]) -> frozenset[str]:
    return words - found
