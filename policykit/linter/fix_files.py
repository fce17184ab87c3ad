"""Applies fixes to files in rounds until none is left."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from policykit.errors import Failures
from policykit.linter.finding import Finding, Report, TextFix
from policykit.linter.reader import decode
from policykit.manifests.edit import read, same
from policykit.manifests.extents import Edit, slices
from policykit.manifests.large_documents import TOO_MANY
from policykit.manifests.patch import EditError, all_patched
from policykit.model.severity import Applicability
from policykit.namedtuple import NamedTuple

_ROUNDS = 100
"""Maximum number of rounds: overlapping fixes are applied in separate rounds, and no file needs this many."""


class FixResult(NamedTuple):
    """The result of fixing files."""

    report: Report
    """The findings that remain."""
    before: Mapping[str, bytes]
    """Original bytes of each changed file, by the path it is opened with."""
    after: Mapping[str, bytes]
    amounts: Mapping[str, int]
    """Number of fixed findings per changed file, by the same path."""
    dropped: tuple[str, ...] = ()
    """Fixes left out because the result would differ from what was intended."""

    @property
    def fixed(self) -> int:
        """Number of fixed findings in all files."""
        return sum(self.amounts.values())


class Overlay:
    """Reads files, changed ones from memory. Can be sent to worker processes."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self.changed: dict[str, bytes] = {}

    def __call__(self, file: str) -> bytes:
        return self.changed[file] if file in self.changed else self._read(file)


Lint = Callable[[Callable[[str], bytes], frozenset[str]], Report]
"""From a function that reads files, and reported paths (empty: all files), to a report with fixes."""


def fix_files(
    lint: Lint, read_file: Callable[[str], bytes], files: Mapping[str, str], *, unsafe: bool
) -> FixResult:
    """Lints and fixes until no fix is left; `unsafe`: applies unsafe fixes too.

    `files` maps reported paths to the paths they are opened with.
    """
    overlay = Overlay(read_file)
    before: dict[str, bytes] = {}
    seen: set[tuple[str, bytes]] = set()
    dropped: dict[str, None] = {}
    report = lint(overlay, frozenset())
    fixed: Counter[str] = Counter()
    whole = report
    failures = Failures()
    enough: set[str] = set()
    for _ in range(_ROUNDS):
        dropped |= dict.fromkeys(report.dropped)
        moved: set[str] = set()
        for path, found in _by_file(report.findings, unsafe).items():
            if path in enough:
                continue
            with failures.collect(path):
                raw = overlay(files[path])
                new, amount = fixed_once(raw, found)
                if new == raw or (path, new) in seen:
                    continue
                seen |= {(path, raw), (path, new)}
                before.setdefault(files[path], raw)
                overlay.changed[files[path]] = new
                moved.add(path)
                fixed[files[path]] += amount
        if not moved:
            break
        enough |= _too_large(report.dropped)
        report = lint(overlay, frozenset(moved))
    if before:
        whole = lint(overlay, frozenset())
    whole = whole._replace(failures=(*whole.failures, *failures))
    changed = {file: raw for file, raw in overlay.changed.items() if raw != before[file]}
    return FixResult(
        whole,
        {file: before[file] for file in changed},
        changed,
        {file: fixed[file] for file in changed},
        tuple(dropped),
    )


def _too_large(dropped: Iterable[str]) -> set[str]:
    """Files with more fixes than one run makes."""
    return {each.partition(": document ")[0] for each in dropped if each.endswith(TOO_MANY)}


def fixed_once(raw: bytes, findings: Sequence[Finding]) -> tuple[bytes, int]:
    """The file with all fixes that do not overlap, and the number of findings they fix.

    The result is read again: if a document would not have the data that all its fixes intend, only its
    first fix is made.
    """
    fixes: dict[tuple[Edit, ...], list[Finding]] = {}
    for finding in sorted(findings, key=Finding.sort_key):
        if finding.fix:
            fixes.setdefault(finding.fix.edits, []).append(finding)
    documents: dict[int, list[list[Finding]]] = {}
    for found in fixes.values():
        documents.setdefault(found[0].document, []).append(found)
    pieces = _pieces(raw)
    edits: list[Edit] = []
    amount = 0
    for document in sorted(documents):
        for found in _together(pieces, document, documents[document]):
            edits.extend(_fix(found).edits)
            amount += len(found)
    return _spliced(raw, edits), amount


class _Piece(NamedTuple):
    """The bytes of one document, and their offset in the file."""

    start: int
    raw: bytes
    last: bool


def _pieces(raw: bytes) -> list[_Piece]:
    """The documents of a file."""
    found: list[_Piece] = []
    text = decode(raw).text
    start = len(raw) - len(text.encode())
    extents = slices(text)
    for extent in extents:
        size = len(text[extent.start : extent.end].encode())
        found.append(_Piece(start, raw[start : start + size], extent is extents[-1]))
        start += size
    return found


def _fix(found: Sequence[Finding]) -> TextFix:
    fix = found[0].fix
    assert fix is not None
    return fix


def _together(pieces: Sequence[_Piece], document: int, fixes: Sequence[list[Finding]]) -> list[list[Finding]]:
    """Groups of findings of one document whose fixes can be made together."""
    chosen: list[list[Finding]] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in fixes:
        edits = _fix(found).edits
        if any(_touches(starts, ends, edit) for edit in edits):
            continue
        chosen.append(found)
        for edit in edits:
            insort(starts, edit.start)
            insort(ends, edit.end)
    if len(chosen) == 1 or (document < len(pieces) and _reads_as_intended(pieces[document], chosen)):
        return chosen
    return chosen[:1]


def _touches(starts: Sequence[int], ends: Sequence[int], one: Edit) -> bool:
    """Whether an edit overlaps one of others, given by their sorted starts and ends, which do not overlap."""
    before = bisect_right(starts, one.end)
    return before > 0 and ends[before - 1] >= one.start


def _reads_as_intended(piece: _Piece, fixes: Sequence[list[Finding]]) -> bool:
    """Whether the document has the intended data after all fixes.

    Later ones are applied first: adding or removing there does not change the paths of earlier ones.
    """
    ordered = sorted((_fix(found) for found in fixes), key=lambda fix: fix.edits[0], reverse=True)
    edits = (edit for fix in ordered for edit in fix.edits)
    shifted = [Edit(edit.start - piece.start, edit.end - piece.start, edit.text) for edit in edits]
    after = decode(_spliced(piece.raw, shifted)).text
    try:
        data = all_patched(_data(decode(piece.raw).text), (p for fix in ordered for p in fix.patches))
        whole = len(slices(after)) == 1 and (piece.last or after.endswith("\n"))
        return whole and same(data, _data(after))
    except EditError:
        return False


def _data(text: str) -> object:
    root = read(text)[0]
    return root.data if root else None


def _spliced(raw: bytes, edits: Iterable[Edit]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for one in sorted(edits):
        parts += (raw[at : one.start], one.text.encode())
        at = one.end
    return b"".join((*parts, raw[at:]))


def _by_file(findings: Iterable[Finding], unsafe: bool) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        fix = finding.fix
        if fix and (unsafe or fix.applicability is Applicability.SAFE):
            found.setdefault(finding.path, []).append(finding)
    return found
