"""Values and alternatives as messages name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


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
