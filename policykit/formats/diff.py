"""Unified diffs that `git apply` and `patch -p1` accept."""

from __future__ import annotations

from difflib import unified_diff
from string import ascii_letters, digits

from policykit.escape import one_line

_PLAIN = frozenset(f"{ascii_letters}{digits}/.-_ ".encode())


def diff(path: str, before: str, after: str) -> str:
    """A unified diff; empty if nothing differs. Marks a last line without a line feed."""
    name = path.lstrip("/")
    old, new = _lines(before), _lines(after)
    changed = unified_diff(old, new, _quoted(f"a/{name}"), _quoted(f"b/{name}"))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in changed
    )


def _lines(text: str) -> list[str]:
    """The lines, split only at line feeds, as git does."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _quoted(name: str) -> str:
    """A name as git writes it: quoted, with octal escapes, unless it is plain text."""
    if one_line(name) == name and not any(character in name for character in '"\\'):
        return name
    raw = name.encode("utf-8", errors="surrogateescape")
    return f'"{"".join(chr(byte) if byte in _PLAIN else f"{chr(92)}{byte:03o}" for byte in raw)}"'
