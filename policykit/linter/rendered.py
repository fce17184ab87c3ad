"""Which template a document was rendered from: Helm writes `# Source: chart/templates/a.yaml` above each."""

from __future__ import annotations

import re
from bisect import bisect_left

_WORD = "# Source: "
_COMMENT = re.compile(r"^# Source: (\S.*?)[ \t]*\r?$", re.MULTILINE)


def comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line from 0, path) of every such comment; a file without any is searched once."""
    if _WORD not in text:
        return ()
    found = []
    line = counted = 0
    for match in _COMMENT.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        found.append((line, match[1]))
    return tuple(found)


def source(said: tuple[tuple[int, str], ...], first_line: int, start_line: int) -> str:
    """The template of a document whose content begins at `start_line`, and whose `---` stands at
    `first_line`, both from 0; empty: it says none."""
    last = bisect_left(said, start_line, key=lambda comment: comment[0]) - 1
    return said[last][1] if last >= 0 and said[last][0] >= first_line else ""
