"""Findings that people asked not to see: comments and annotations, with an end and a reason.

`# policykit: ignore[PK101, missing-usage-affinity] until 2026-12-31 -- why` on the line of a key
covers that node, on the first line of a document the whole document; on a line of its own it
covers the node below it. The annotation `policykit.io/ignore: PK101, PK103 -- why` covers its
object. With `until` it holds up to that day and hides nothing from the next day on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policykit.linter.asked import Asked, of_annotation, of_comment
from policykit.linter.finding import Finding, Resource
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node, Span
from policykit.manifests.path import Path

ANNOTATION = "policykit.io/ignore"
_MARK = "policykit:"
_COMMENT = re.compile(r"(?:^|\s)(#\s*policykit:\s*ignore(?![\w-])(?:\[([^\]]*)\])?(.*))$", re.DOTALL)


class Comment(NamedTuple):
    """Where a suppression comment stands in its file, offsets in code points."""

    line: int
    """From 0."""
    own_line: bool
    span: Span
    start: int
    """From here to `end` nothing but the comment goes: its blanks before it, or its whole line."""
    end: int
    names: str
    """What stands in its brackets."""
    names_start: int


class Annotation(NamedTuple):
    """The object whose annotation a suppression is."""

    base: Path
    """From the document's root to the object."""
    resource: Resource
    text: str
    alone: bool
    """The object has no other annotation."""


class Suppression(NamedTuple):
    """Lines from 1, both included."""

    first: int
    last: int
    asked: Asked
    place: Comment | Annotation
    span: Span
    document: int = 0
    expired: bool = False
    judged: bool = True
    """What it could hide is all there: not in a template, a patch or a fragment."""
    whole: bool = False
    """A comment that covers its whole document."""


class Suppressed(NamedTuple):
    """A suppression, and what it came to in a run."""

    suppression: Suppression
    hid: frozenset[str] = frozenset()
    """Those of its words that hid a finding."""
    able: frozenset[str] = frozenset()
    """Codes of the rules that were run over its file with all they need, chosen or not."""


def comments(text: str) -> tuple[tuple[Comment, Asked], ...]:
    """Suppression comments of a file; files without the mark cost one search."""
    if _MARK not in text:
        return ()
    found = []
    start = 0
    for number, line in enumerate(text.split("\n")):
        match = _COMMENT.search(line) if _MARK in line else None
        if match:
            found.append((_comment(text, start, number, match), _asked(match)))
        start += len(line) + 1
    return tuple(found)


def bind(
    found: Sequence[tuple[Comment, Asked]], root: Node, lines: tuple[int, int], document: int, today: str = ""
) -> Iterator[Suppression]:
    """The comments of one document (`lines` from 0, end excluded) as ranges of lines."""
    start_line, end_line = lines
    entries = list(_starts(root))
    first_key = entries[0][0] if entries else root.start.line
    for comment, asked in found:
        if not start_line <= comment.line < end_line or _inside_text(root, comment.span):
            continue
        first, last = comment.line, comment.line
        whole = comment.line <= first_key
        if whole:
            first, last = start_line, end_line - 1
        else:
            target = comment.line
            if comment.own_line:
                target = next((start for start, _ in entries if start > comment.line), comment.line)
            last = next((end for start, end in entries if start == target), target)
        expired = asked.expired(today)
        span = comment.span
        yield Suppression(first + 1, last + 1, asked, comment, span, document, expired, whole=whole)


def annotated(
    manifest: Manifest, lines: tuple[int, int], resource: Resource, today: str = ""
) -> Iterator[Suppression]:
    """The object's annotation, if it has one; `lines` are the object's lines from 1."""
    text = manifest.annotations.get(ANNOTATION, "")
    if text:
        asked = of_annotation(text)
        alone = len(manifest.annotations) == len(manifest.metadata["annotations"]) == 1
        place = Annotation(manifest.base, resource, text, alone)
        span = manifest.span(("metadata", "annotations", ANNOTATION))
        expired, judged = asked.expired(today), not manifest.partial
        yield Suppression(*lines, asked, place, span, manifest.document, expired, judged)


def sift(
    findings: Iterable[Finding], suppressions: Sequence[Suppressed]
) -> tuple[list[Finding], tuple[Suppressed, ...]]:
    """The findings that nothing hides, and the suppressions with what they have hidden by now."""
    kept = []
    hid: list[set[str]] = [set() for _ in suppressions]
    for finding in findings:
        hidden = False
        for one, words in zip(suppressions, hid, strict=True):
            if one.suppression.first <= finding.span.line <= one.suppression.last:
                meant = [word for word in one.suppression.asked.rules if _means(word, finding)]
                hidden = hidden or bool(meant and not one.suppression.expired)
                words.update(meant)
        if not hidden:
            kept.append(finding)
    return kept, tuple(
        one._replace(hid=one.hid | words) for one, words in zip(suppressions, hid, strict=True)
    )


def sift_built(
    finding: Finding, suppressions: Sequence[Suppressed], *, ignored: bool
) -> tuple[bool, tuple[Suppressed, ...]]:
    """Whether the comments of a file hide a finding about a built object, and the suppressions afterwards.

    The annotations that count are those of the object as it is built: `ignored` where they hide it. Those
    of the file may be where they come from.
    """
    one = tuple(each for each in suppressions if isinstance(each.suppression.place, Comment))
    kept, one = sift([finding], one)
    other = tuple(each for each in suppressions if isinstance(each.suppression.place, Annotation))
    if ignored:
        _, other = sift([finding], other)
    return not kept, (*one, *other)


def _comment(text: str, start: int, number: int, match: re.Match[str]) -> Comment:
    """The comment that a line beginning at `start` matched."""
    line = match.string
    own = not line[: match.start(1)].strip()
    written = match.group(1).rstrip()
    column = match.start(1) + 1
    end = len(line.removesuffix("\r"))
    if own:
        begin, end = 0, min(len(line) + 1, len(text) - start)
    else:
        begin = len(line[: match.start(1)].rstrip())
    return Comment(
        number,
        own,
        Span(number + 1, column, number + 1, column + len(written)),
        start + begin,
        start + end,
        match.group(2) or "",
        start + max(match.start(2), 0),
    )


def _asked(match: re.Match[str]) -> Asked:
    return Asked() if match.group(2) is None else of_comment(match.group(2), match.group(3))


def _means(word: str, finding: Finding) -> bool:
    return word == finding.name or (word.upper().startswith("PK") and finding.code.startswith(word.upper()))


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


def _inside_text(root: Node, place: Span) -> bool:
    """Whether the place belongs to a text in quotes or a block, where `#` begins no comment."""
    pending: list[Node] = [root]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if node.entries is None:
            if node.style and _holds(node, place):
                return True
        elif id(node.entries) not in seen:
            seen.add(id(node.entries))
            if isinstance(node.entries, dict):
                pending.extend(part for pair in node.entries.values() for part in pair)
            else:
                pending.extend(node.entries)
    return False


def _holds(node: Node, place: Span) -> bool:
    line, column = place.line - 1, place.column - 1
    if node.style in ("|", ">"):
        # The line of the indicator ends with a comment, if it likes.
        return bool(node.start.line < line <= _last_line(node))
    return (node.start.line, node.start.column) <= (line, column) < (node.end.line, node.end.column)
