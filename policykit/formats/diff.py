"""Changes to a file as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

from difflib import unified_diff


def diff(path: str, before: str, after: str) -> str:
    """Empty where nothing differs; a last line without its ending is marked as such."""
    name = path.lstrip("/")
    old, new = _lines(before), _lines(after)
    changed = unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in changed
    )


def _lines(text: str) -> list[str]:
    """Broken at line feeds alone: other separators stand within a line, for git too."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
