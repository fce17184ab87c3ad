"""The word somebody may have meant: one search, remembered, since a tree repeats its mistakes."""

from functools import lru_cache


@lru_cache(maxsize=4096)
def nearest(word: str, known: tuple[str, ...], likeness: float = 0.6) -> str:
    """The known word most like `word`, empty where none is alike enough (0..1)."""
    from difflib import SequenceMatcher

    # As get_close_matches does it for one match, but what cannot be better than the best is not measured.
    matcher: SequenceMatcher[str] = SequenceMatcher()
    matcher.set_seq2(word)
    best, found = likeness, ""
    for each in known:
        matcher.set_seq1(each)
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best:
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and each > found):
                best, found = ratio, each
    return found
