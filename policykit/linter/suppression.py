"""Findings that people asked not to see: comments and annotations, with a reason.

`# policykit: ignore[PK101, missing-usage-affinity] -- why` on the line of a key covers that
node, on the first line of a document the whole document; on a line of its own it covers the
node below it. The annotation `policykit.io/ignore: PK101, PK103 -- why` covers its object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.linter.finding import Finding
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node

ANNOTATION = "policykit.io/ignore"
_MARK = "policykit:"
_COMMENT = re.compile(r"(?:^|\s)#\s*policykit:\s*ignore\[([^\]]*)\](?:\s*--\s*(.*?))?\s*$")


class Suppression(NamedTuple):
    """Lines from 1, both included."""

    first: int
    last: int
    rules: tuple[str, ...]
    """Codes, names or families as written."""
    reason: str
    line: int
    """Where it stands."""


class Comment(NamedTuple):
    """A suppression comment, not yet bound to a node. Line from 0."""

    line: int
    own_line: bool
    rules: tuple[str, ...]
    reason: str


def comments(text: str) -> tuple[Comment, ...]:
    """Suppression comments of a file; files without the mark cost one search."""
    if _MARK not in text:
        return ()
    found = []
    for number, line in enumerate(text.split("\n")):
        match = _COMMENT.search(line)
        if match:
            rules = _names(match.group(1))
            own = not line[: match.start()].strip()
            found.append(Comment(number, own, rules, (match.group(2) or "").strip()))
    return tuple(found)


def bind(found: Sequence[Comment], root: Node, start_line: int, end_line: int) -> Iterator[Suppression]:
    """The comments of one document (lines from 0, end excluded) as ranges of lines."""
    lines = list(_starts(root))
    first_key = lines[0][0] if lines else root.start.line
    for comment in found:
        if not start_line <= comment.line < end_line or _inside_text(root, comment.line):
            continue
        if comment.line <= first_key:
            yield Suppression(start_line + 1, end_line, comment.rules, comment.reason, comment.line + 1)
            continue
        target = comment.line
        if comment.own_line:
            target = next((start for start, _ in lines if start > comment.line), comment.line)
        last = next((end for start, end in lines if start == target), target)
        yield Suppression(comment.line + 1, last + 1, comment.rules, comment.reason, comment.line + 1)


def annotated(manifest: Manifest, span_lines: tuple[int, int]) -> Iterator[Suppression]:
    """The object's annotation, if it has one; `span_lines` are the object's lines from 1."""
    text = manifest.annotations.get(ANNOTATION, "")
    if text:
        names, _, reason = text.partition("--")
        line = manifest.span(("metadata", "annotations", ANNOTATION)).line
        yield Suppression(span_lines[0], span_lines[1], _names(names), reason.strip(), line)


def suppressed(finding: Finding, suppressions: Iterable[Suppression]) -> bool:
    """Whether a suppression on its lines names the finding's rule."""
    return any(
        s.first <= finding.span.line <= s.last and any(_means(word, finding) for word in s.rules)
        for s in suppressions
    )


def _means(word: str, finding: Finding) -> bool:
    return word == finding.name or (word.upper().startswith("PK") and finding.code.startswith(word.upper()))


def _names(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


def _starts(node: Node) -> Iterator[tuple[int, int]]:
    """(first line, last line) of every entry, outermost first, lines from 0."""
    pending: list[Node] = [node]
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        entries = current.entries
        if entries is None or id(entries) in seen:
            continue
        seen.add(id(entries))
        pairs = entries.values() if isinstance(entries, dict) else ((item, item) for item in entries)
        for introduced_by, value in pairs:
            found.append((introduced_by.start.line, _last_line(value)))
            pending.append(value)
    found.sort(key=lambda lines: (lines[0], -lines[1]))
    return iter(found)


def _last_line(node: Node) -> int:
    end = node.end
    return int(end.line - 1 if end.column == 0 and end.line > node.start.line else end.line)


def _inside_text(root: Node, line: int) -> bool:
    """Whether the line belongs to a text of several lines, where `#` begins no comment."""
    pending: list[Node] = [root]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if node.entries is None:
            if node.start.line < line <= _last_line(node) and node.style:
                return True
        elif id(node.entries) not in seen:
            seen.add(id(node.entries))
            if isinstance(node.entries, dict):
                pending.extend(value for _, value in node.entries.values())
            else:
                pending.extend(node.entries)
    return False
