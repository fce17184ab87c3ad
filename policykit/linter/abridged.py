"""Documents that say by three dots that something is left out: as partial as a patch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policykit.manifests.node import Node

_SIGN = re.compile(r"\A\s*(?:\.{3,}|…+)\s*\Z")
_END = re.compile(r"\.\.\.(?:\s|\Z)")
_NOTHING = re.compile(r"\s*(?:#.*)?\Z")


def is_abridged(root: Node, lines: Sequence[str], first: int, end: int) -> bool:
    """Whether the document in the lines from `first` to before `end` shows that it is an excerpt.

    By a value or a key of dots alone, or the `...` that to YAML is the end of a document, in a file
    that does not begin its documents with `---`. A comment is no sign: it is for people.
    """
    end = end if end > root.end.line else _last(lines, root.end.line)
    if not any("..." in line or "…" in line for line in lines[first:end]):
        return False
    if any(isinstance(scalar.data, str) and _SIGN.match(scalar.data) for scalar in _scalars(root)):
        return True
    ended = next((number for number in range(first, min(end, len(lines))) if _END.match(lines[number])), None)
    return ended is not None and _is_left_out(lines, ended)


def _last(lines: Sequence[str], first: int) -> int:
    """The line a document ends before, where what follows it is broken and begins nowhere."""
    later = (number for number in range(first + 1, len(lines)) if lines[number].startswith("---"))
    return next(later, len(lines))


def _is_left_out(lines: Sequence[str], number: int) -> bool:
    """Whether the `...` at the beginning of a line means more than the end of a document."""
    begins = _first(lines, 0)
    goes_on = _first(lines, number + 1) or "---"
    return not begins.startswith(("---", "%")) or not goes_on.startswith(("---", "%"))


def _first(lines: Sequence[str], start: int) -> str:
    """The first line from `start` on that says something; empty: none does."""
    later = (lines[number] for number in range(start, len(lines)))
    return next((line for line in later if not _NOTHING.match(line)), "")


def _scalars(root: Node) -> Iterator[Node]:
    """Keys and values; what aliases share is looked at once."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        entries = node.entries
        if entries is None:
            yield node
        elif id(entries) not in seen:
            seen.add(id(entries))
            if isinstance(entries, dict):
                for key, value in entries.values():
                    pending += (key, value)
            else:
                pending += entries
