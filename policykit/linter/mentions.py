"""Words that a text must hold for a rule or a fact reader to have anything to say of it.

Most files are about little: what looks for words that are not there is neither run nor imported.
"""

from __future__ import annotations

from collections.abc import Iterable

_ESCAPES = ("\\x", "\\u", "\\U", "\\/", *(f"\\{line_break}" for line_break in "\n\r\x85\u2028\u2029"))
"""With these a quoted scalar of YAML or JSON can hold a word that the text does not show."""


def unmentioned(text: str, words: Iterable[str]) -> frozenset[str]:
    """Those of the words that nothing in a text of YAML or JSON says; none where that is not sure."""
    if "\\" in text and any(escape in text for escape in _ESCAPES):
        return frozenset()
    return frozenset(word for word in words if word not in text)
