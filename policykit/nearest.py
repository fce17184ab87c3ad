"""The nearest known word, cached because files repeat their mistakes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache

MOST = 100
"""Most known words to compare: those next to the word in sorted order, since most typing errors come
after the first letters."""
LONGEST = 256
"""No name is longer, and comparing costs the product of two lengths."""


class Names:
    """Known words, sorted once for many comparisons."""

    def __init__(self, names: Iterable[str]) -> None:
        self.sorted = tuple(sorted(set(names)))
        self._known = frozenset(self.sorted)

    def __contains__(self, word: object) -> bool:
        return word in self._known

    def nearest(self, word: str, likeness: float = 0.6, *, but: str = "") -> str:
        """As the function `nearest`, over these words except one."""
        return nearest(word, tuple(name for name in _candidates(word, self.sorted) if name != but), likeness)


def nearest(word: str, known: Sequence[str], likeness: float = 0.6) -> str:
    """The known word most similar to `word`; empty if none is similar enough (0..1)."""
    if len(word) > LONGEST:
        return ""
    return _nearest(word, tuple(known if len(known) <= MOST else _candidates(word, sorted(known))), likeness)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter was left out, added, replaced, or swapped with its neighbour."""
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    one, other = one[at:], other[at:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    swapped = len(one) == len(other) == 2 and one == other[::-1]
    return swapped or max(len(one), len(other)) == 1


def some(names: Iterable[str], most: int = 12) -> str:
    """The names as a message lists them: a, b and 7 more."""
    listed = sorted(set(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _candidates(word: str, known: Sequence[str]) -> Sequence[str]:
    if len(known) <= MOST:
        return known
    at = min(max(bisect_left(known, word) - MOST // 2, 0), len(known) - MOST)
    return known[at : at + MOST]


@lru_cache(maxsize=4096)
def _nearest(word: str, known: tuple[str, ...], likeness: float) -> str:
    from difflib import SequenceMatcher

    # As get_close_matches does it for one match, but what cannot be better than the best is not measured.
    matcher: SequenceMatcher[str] = SequenceMatcher()
    matcher.set_seq2(word)
    best, found = likeness, ""
    for each in known:
        if len(each) > LONGEST:
            continue
        matcher.set_seq1(each)
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best:
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and each > found):
                best, found = ratio, each
    return found
