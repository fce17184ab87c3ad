"""The nearest known word, cached because files repeat their mistakes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest

MOST = 100
"""Most known words to compare: those next to the word in sorted order, since most typing errors come
after the first letters."""
_MOST_KEPT = 4096
LONGEST = 256
"""No name is longer, and comparing costs the product of two lengths."""


class Names:
    """Known words, sorted once for many comparisons."""

    def __init__(self, names: Iterable[str]) -> None:
        self.sorted = tuple(sorted(set(names)))
        self._known = frozenset(self.sorted)
        self._found: dict[tuple[str, float, str] | str, str] = {}
        """What was asked for, since files repeat their mistakes."""

    def __contains__(self, word: object) -> bool:
        return word in self._known

    def nearest(self, word: str, likeness: float = 0.6, *, but: str = "") -> str:
        """As the function `nearest`, over these words except one."""
        question = (word, likeness, but)
        if question not in self._found:
            others = tuple(name for name in _candidates(word, self.sorted) if name != but)
            self._keep(question, nearest(word, others, likeness))
        return self._found[question]

    def misspelt(self, word: str) -> str:
        """The word that one edit makes of another, unless both may be meant: web-1 and web-2, team-a and
        team-b. Empty: there is none, or several."""
        if word not in self._found:
            found = [
                name
                for name in _candidates(word, self.sorted)
                if one_edit_apart(word, name) and not _are_siblings(word, name)
            ]
            self._keep(word, found[0] if len(found) == 1 else "")
        return self._found[word]

    def _keep(self, question: tuple[str, float, str] | str, answer: str) -> None:
        if len(self._found) >= _MOST_KEPT:
            self._found.clear()
        self._found[question] = answer


def nearest(word: str, known: Sequence[str], likeness: float = 0.6) -> str:
    """The known word most similar to `word`; empty if none is similar enough (0..1)."""
    if len(word) > LONGEST:
        return ""
    return _nearest(word, tuple(known if len(known) <= MOST else _candidates(word, sorted(known))), likeness)


def one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter was left out, added, replaced, or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1:
        return False
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    one, other = one[at:], other[at:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    swapped = len(one) == len(other) == 2 and one == other[::-1]
    return swapped or max(len(one), len(other)) == 1


def _are_siblings(one: str, other: str) -> bool:
    """Whether words one edit apart differ in a number, or in a part that is a letter or two."""
    pair = _only_difference(one, other)
    if pair is None:
        return False
    mine, theirs = pair
    numbers = _DIGITS.sub("", mine) == _DIGITS.sub("", theirs)
    return numbers or max(len(mine), len(theirs)) <= 2


def are_numbered(one: str, other: str) -> bool:
    """Whether one word is the other and a number: web and web-2."""
    pair = _only_difference(one, other)
    return pair is not None and "" in pair and "".join(pair).isdecimal()


def is_extended(one: str, other: str) -> bool:
    """Whether one word is the other with parts before or after it: user-queue and tas-user-queue."""
    short, long = sorted((one, other), key=len)
    before, found, after = long.partition(short)
    return bool(found and (before or after)) and before[-1:] in _ENDS_OF_PARTS and after[:1] in _ENDS_OF_PARTS


def _only_difference(one: str, other: str) -> tuple[str, str] | None:
    """The only part in which two words differ, empty where a word has no such part; None: there are several,
    or none."""
    parts = zip_longest(_PARTS.split(one), _PARTS.split(other), fillvalue="")
    differing = [pair for pair in parts if pair[0] != pair[1]]
    return differing[0] if len(differing) == 1 else None


_PARTS = re.compile("[-._/]")
_ENDS_OF_PARTS = frozenset({"", "-", ".", "_", "/"})
_DIGITS = re.compile("[0-9]+")


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
