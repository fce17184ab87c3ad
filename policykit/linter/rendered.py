"""Which template a document was rendered from: Helm writes `# Source: chart/templates/a.yaml` above each."""

from __future__ import annotations

import re

_WORD = "# Source: "
_COMMENT = re.compile(r"^# Source: (\S.*?)[ \t]*\r?$", re.MULTILINE)


def comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line from 0, path) of every such comment; a file without any is searched once."""
    if _WORD not in text:
        return ()
    return tuple((text.count("\n", 0, match.start()), match[1]) for match in _COMMENT.finditer(text))


def source(said: tuple[tuple[int, str], ...], first_line: int, start_line: int) -> str:
    """The template of a document whose content begins at `start_line`, and whose `---` stands at
    `first_line`, both from 0; empty: it says none."""
    return next((path for line, path in reversed(said) if first_line <= line < start_line), "")
