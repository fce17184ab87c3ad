"""Suppressions: comments and annotations that hide findings, with an end date and a reason.

`# policykit: ignore[PK101, missing-usage-affinity] until 2026-12-31 -- why` on the line of a key
covers that node, and on the first line of a document the whole document; on a line of its own it
covers the node below it. The annotation `policykit.io/ignore: PK101, PK103 -- why` covers its
object. With `until` it applies up to and including that day.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from policykit.linter.finding import Finding, Resource
from policykit.linter.location import LocatedObject
from policykit.manifests.document import Manifest
from policykit.manifests.node import Node, Span
from policykit.manifests.path import Path
from policykit.namedtuple import NamedTuple

_UNTIL = r"(?:^|\s)until(?:\s|$)"
_DAY = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_SEPARATOR = r"[,\s]+"


class Directive(NamedTuple):
    """The content of a suppression."""

    rules: tuple[str, ...] = ()
    """Codes, names or families as written; empty: it is not a valid suppression."""
    until: str | None = None
    """The last day on which it applies, as written; None: it has no end."""
    reason: str = ""

    @property
    def dated(self) -> bool:
        """Whether its end is a valid date; if not, it never expires."""
        return self.until is not None and is_day(self.until)

    def expired(self, today: str) -> bool:
        """Whether its last day is before `today`, YYYY-MM-DD; empty: nothing expires."""
        return bool(today) and self.until is not None and self.dated and self.until < today


def of_comment(names: str, rest: str) -> Directive:
    """The directive in a comment: the text in its brackets, and the text after them."""
    words, _, reason = rest.partition("--")
    before, until = _ending(words)
    return Directive() if before.strip() else Directive(_names(names), until, reason.strip())


def of_annotation(text: str) -> Directive:
    """`PK101, PK103 until 2026-12-31 -- why`."""
    words, _, reason = text.partition("--")
    names, until = _ending(words)
    return Directive(_names(names), until, reason.strip())


def without(names: str, words: Collection[str]) -> str:
    """A list of rules without some of its words; spaces and commas between the others are kept."""
    text = names.strip()
    pieces = ["", *re.split(r"([,\s]+)", text)]
    kept = [pair for pair in zip(pieces[::2], pieces[1::2], strict=True) if pair[1] not in words]
    shorter = "".join(before * (position > 0) + word for position, (before, word) in enumerate(kept))
    return names.replace(text, shorter, 1) if text else names


def _ending(words: str) -> tuple[str, str | None]:
    """The text before `until`, and the text after it."""
    match = re.search(_UNTIL, words)
    return (words[: match.start()], words[match.end() :].strip()) if match else (words, None)


def _names(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(_SEPARATOR, text) if word)


def is_day(text: str) -> bool:
    """Whether a text is a valid date, YYYY-MM-DD."""
    match = re.fullmatch(_DAY, text)
    if match is None:
        return False
    from datetime import date

    try:
        date(*(int(part) for part in match.groups()))
    except ValueError:
        return False
    return True


ANNOTATION = "policykit.io/ignore"
_MARK = "policykit:"
_COMMENT = re.compile(r"(?:^|\s)(#\s*policykit:\s*ignore(?![\w-])(?:\[([^\]]*)\])?(.*))$", re.DOTALL)


class Comment(NamedTuple):
    """Location of a suppression comment; offsets in code points."""

    line: int
    """From 0."""
    own_line: bool
    span: Span
    start: int
    """Start of the text to remove, up to `end`: the comment with blanks before it, or its whole line."""
    end: int
    names: str
    """The text in its brackets."""
    names_start: int


class Annotation(NamedTuple):
    """The object with the annotation of a suppression."""

    base: Path
    """From the document's root to the object."""
    resource: Resource
    text: str
    alone: bool
    """Whether the object has no other annotation."""


class Suppression(NamedTuple):
    """A suppression, and the lines it covers, from 1, both included."""

    first: int
    last: int
    directive: Directive
    place: Comment | Annotation
    span: Span
    document: int = 0
    expired: bool = False
    judged: bool = True
    """Whether all findings that it could hide are known: it is not in a template, a patch or a fragment."""
    whole: bool = False
    """Whether it is a comment that covers its whole document."""


class SuppressionUse(NamedTuple):
    """A suppression, and its effect in a run."""

    suppression: Suppression
    matched: frozenset[str] = frozenset()
    """Those of its rules that hid a finding, as written."""
    checked: frozenset[str] = frozenset()
    """Codes of the rules that were fully applied to its file, selected or not."""


def comments(text: str) -> tuple[tuple[Comment, Directive], ...]:
    """Suppression comments of a file; a file without the mark costs one search."""
    if _MARK not in text:
        return ()
    found = []
    start = 0
    for number, line in enumerate(text.split("\n")):
        match = _COMMENT.search(line) if _MARK in line else None
        if match:
            found.append((_comment(text, start, number, match), _directive(match)))
        start += len(line) + 1
    return tuple(found)


def comment_suppressions(
    found: Sequence[tuple[Comment, Directive]],
    root: Node,
    lines: tuple[int, int],
    document: int,
    today: str = "",
) -> Iterator[Suppression]:
    """The comments of one document (`lines` from 0, end excluded) as ranges of lines."""
    start_line, end_line = lines
    begin, end = (bisect_left(found, line, key=_line_of) for line in lines)
    if begin == end:
        return
    entries = _starts(root)
    starts = [start for start, _ in entries]
    texts = _texts(root)
    first_key = starts[0] if starts else root.start.line
    for comment, directive in found[begin:end]:
        if _is_inside(texts, comment.span):
            continue
        first, last = comment.line, comment.line
        whole = comment.line <= first_key
        if whole:
            first, last = start_line, end_line - 1
        else:
            at = (bisect_right if comment.own_line else bisect_left)(starts, comment.line)
            if at < len(starts) and (comment.own_line or starts[at] == comment.line):
                last = entries[at][1]
        expired = directive.expired(today)
        span = comment.span
        yield Suppression(first + 1, last + 1, directive, comment, span, document, expired, whole=whole)


def _line_of(found: tuple[Comment, Directive]) -> int:
    return found[0].line


def annotation_suppressions(
    manifest: Manifest, lines: tuple[int, int], resource: Resource, today: str = ""
) -> Iterator[Suppression]:
    """The object's annotation, if it has one; `lines` are the object's lines from 1."""
    text = manifest.annotations.get(ANNOTATION, "")
    if text:
        directive = of_annotation(text)
        alone = len(manifest.annotations) == len(manifest.metadata["annotations"]) == 1
        place = Annotation(manifest.base, resource, text, alone)
        span = manifest.span(("metadata", "annotations", ANNOTATION))
        expired, judged = directive.expired(today), not manifest.partial
        yield Suppression(*lines, directive, place, span, manifest.document, expired, judged)


def apply_suppressions(
    findings: Iterable[Finding], suppressions: Sequence[SuppressionUse]
) -> tuple[list[Finding], tuple[SuppressionUse, ...]]:
    """The findings that are not suppressed, and the suppressions with the rules they matched so far."""
    ranges: dict[tuple[int, int], _Range] = {}
    for one in suppressions:
        there = ranges.setdefault((one.suppression.first, one.suppression.last), _Range(set(), set()))
        if not one.suppression.expired:
            there.live.update(map(_key, one.suppression.directive.rules))
    waiting = sorted(ranges, reverse=True)
    beside: list[tuple[int, int]] = []
    everything = list(findings)
    hidden: set[int] = set()
    for number in sorted(range(len(everything)), key=lambda number: everything[number].span.line):
        line = everything[number].span.line
        while waiting and waiting[-1][0] <= line:
            beside.append(waiting.pop())
        beside = [lines for lines in beside if lines[1] >= line]
        keys = _keys(everything[number])
        for lines in beside:
            ranges[lines].met.update(keys)
            if not keys.isdisjoint(ranges[lines].live):
                hidden.add(number)
    kept = [finding for number, finding in enumerate(everything) if number not in hidden]
    return kept, tuple(
        one._replace(matched=one.matched | _matched(one, ranges[one.suppression.first, one.suppression.last]))
        for one in suppressions
    )


class _Range(NamedTuple):
    """Directives for the same lines, and the findings there, as words of `_key`."""

    live: set[str]
    """Words that hide findings today."""
    met: set[str]
    """Words that match a finding on these lines."""


def _key(word: str) -> str:
    """A word for comparison: codes and their prefixes in capitals."""
    return word.upper() if word.upper().startswith("PK") else word


def _keys(finding: Finding) -> frozenset[str]:
    """The words that match a finding."""
    code = finding.code
    return frozenset((finding.name, *(code[:end] for end in range(len("PK"), len(code) + 1))))


def _matched(one: SuppressionUse, there: _Range) -> frozenset[str]:
    return frozenset(word for word in one.suppression.directive.rules if _key(word) in there.met)


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


def _directive(match: re.Match[str]) -> Directive:
    return Directive() if match.group(2) is None else of_comment(match.group(2), match.group(3))


def _starts(node: Node) -> list[tuple[int, int]]:
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
    return found


def _last_line(node: Node) -> int:
    end = node.end
    return int(end.line - 1 if end.column == 0 and end.line > node.start.line else end.line)


_Place = tuple[int, int]
"""Line and column, from 0."""


def _texts(root: Node) -> list[tuple[_Place, _Place]]:
    """Start and end of each quoted text and block scalar, in which `#` is not a comment; sorted."""
    found: set[tuple[_Place, _Place]] = set()
    pending: list[Node] = [root]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if node.entries is None:
            if node.style:
                found.add(_extent(node))
        elif id(node.entries) not in seen:
            seen.add(id(node.entries))
            if isinstance(node.entries, dict):
                pending.extend(part for pair in node.entries.values() for part in pair)
            else:
                pending.extend(node.entries)
    return sorted(found)


def _extent(node: Node) -> tuple[_Place, _Place]:
    if node.style in ("|", ">"):
        # The line of the indicator may end with a comment.
        return (node.start.line + 1, 0), (_last_line(node) + 1, 0)
    return (node.start.line, node.start.column), (node.end.line, node.end.column)


def _is_inside(texts: Sequence[tuple[_Place, _Place]], span: Span) -> bool:
    """Whether a span is in one of the texts."""
    place = (span.line - 1, span.column - 1)
    before = bisect_right(texts, place, key=lambda text: text[0])
    return before > 0 and place < texts[before - 1][1]


class FileSuppressions:
    """The suppressions of one file, with the lines they cover."""

    def __init__(self, text: str, today: str) -> None:
        """`today`: YYYY-MM-DD, to tell which suppressions have expired; empty: none has."""
        self._comments = comments(text)
        self._today = today
        self._found: list[Suppression] = []

    def document(self, root: Node, lines: tuple[int, int], index: int) -> None:
        """Adds the comments of a document; `lines`: from 0, end excluded."""
        self._found.extend(comment_suppressions(self._comments, root, lines, index, self._today))

    def object(self, located: LocatedObject) -> None:
        """Adds the annotation of an object, if it has one."""
        node = located.manifest.node
        lines = (node.start.line + 1, node.end.line + 1)
        self._found.extend(annotation_suppressions(located.manifest, lines, located.resource, self._today))

    def apply(
        self, findings: Sequence[Finding], template: bool, unfinished: set[int]
    ) -> tuple[list[Finding], tuple[SuppressionUse, ...]]:
        """The findings that are not suppressed, and all suppressions.

        Suppressions in templates and incomplete documents (by index) are not reported as unused, since their
        findings are known only after rendering or merging.
        """
        uses = tuple(
            SuppressionUse(
                one._replace(judged=one.judged and not template and one.document not in unfinished),
            )
            for one in self._found
        )
        return apply_suppressions(findings, uses) if uses else (list(findings), ())
