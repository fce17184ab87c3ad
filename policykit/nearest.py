"""The word somebody may have meant: one search, remembered, since a tree repeats its mistakes."""

from functools import lru_cache


@lru_cache(maxsize=4096)
def nearest(word: str, known: tuple[str, ...], likeness: float = 0.6) -> str:
    """The known word most like `word`, empty where none is alike enough (0..1)."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, 1, likeness)), "")
