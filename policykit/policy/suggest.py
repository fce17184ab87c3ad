"""Did you mean: the nearest of the names that would have been right."""

from __future__ import annotations

from collections.abc import Iterable

_LISTED = 8


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The candidate that reads most like `word`, empty where none is near."""
    from difflib import get_close_matches

    names = sorted(set(candidates))
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(_fold(name), name)
    found = get_close_matches(_fold(word), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else ""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint: the nearest candidate, else all of them where they are few."""
    names = sorted(set(candidates))
    near = nearest(word, names)
    if near:
        return f"did you mean {near}?"
    if not names:
        return ""
    if len(names) <= _LISTED:
        return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
    return ""


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
