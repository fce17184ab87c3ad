"""Regular expressions as Go reads them (RE2), told apart with Python's."""

from __future__ import annotations

import re

_CLASS = re.compile(r"\[:\^?[a-z]+:\]")
"""[:alpha:] within a set, which Python reads as a set of its own."""
_ONLY_PYTHON = re.compile(r"\(\?(?:<?[=!]|\(|P=)|(?<!\\)(?:\\\\)*\\[1-9]")
"""Looking around, conditions and back references."""
_ONLY_GO = ("bad escape", "global flags", "unknown extension", "missing :", "unknown flag")
"""How Python's words begin about what Go may well read: \\pL, \\z, flags in the middle."""


def compiles(text: str) -> bool:
    """Whether Go takes it. What only Go knows, and is not checked here, counts as fine."""
    if _ONLY_PYTHON.search(text):
        return False
    try:
        re.compile(_CLASS.sub("a", text))
    except re.error as error:
        return error.msg.startswith(_ONLY_GO)
    except (OverflowError, RecursionError):
        return True
    return True
