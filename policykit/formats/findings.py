"""What several formats share: totals, message lines, groups, fingerprints and locations of findings."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

from policykit.linter.finding import Finding, Report
from policykit.manifests.node import BREAK_IN_UTF8, LargeText, lines_of
from policykit.namedtuple import NamedTuple

_BOM = b"\xef\xbb\xbf"


class SourceFiles:
    """The files of a report, each read once: findings are in the order of their files."""

    def __init__(self, raw: Callable[[str], bytes]) -> None:
        self._raw = raw
        self._lines: dict[str, list[str] | LargeText] = {}
        self._bytes: dict[str, bytes] = {}
        self._starts: dict[str, array[int]] = {}

    def line(self, path: str, number: int) -> str:
        """A line of a file, counted from 1, without its ending; empty if there is none."""
        if path not in self._lines:
            self._lines.clear()
            self._lines[path] = lines_of(self._content(path).removeprefix(_BOM))
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def line_and_column(self, path: str, offset: int) -> tuple[int, int]:
        """Line and column, from 1 and in code points, of an offset in bytes."""
        raw = self._content(path)
        if path not in self._starts:
            self._starts.clear()
            shift = len(_BOM) if raw.startswith(_BOM) else 0
            ends = (match.end() for match in re.finditer(BREAK_IN_UTF8, raw))
            self._starts[path] = array("I", chain((shift,), ends))
        starts = self._starts[path]
        line = max(bisect_right(starts, offset), 1)
        return line, len(raw[starts[line - 1] : offset].decode("utf-8", errors="replace")) + 1

    def _content(self, path: str) -> bytes:
        if path not in self._bytes:
            self._bytes.clear()
            self._bytes[path] = self._raw(path)
        return self._bytes[path]


def relative(path: str, root: str) -> str:
    """A path as services expect it: relative to the repository root, with slashes, without `./`."""
    if root and os.path.isabs(path):
        inside = os.path.relpath(path, root)
        path = path if inside.startswith("..") else inside
    elif root and os.path.isabs(root):
        inside = os.path.relpath(os.path.abspath(path), root)
        path = path if inside.startswith("..") else inside
    return path.replace(os.sep, "/")


_MAX_OTHERS = 5
"""Most other messages to show for one location."""
_MAX_CLUSTERS = 8
"""Most clusters to name for one message."""


def counted(amount: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{amount} {noun if amount == 1 else noun + 's'}"


def tally(report: Report) -> dict[str, int]:
    """Findings by severity, most severe first."""
    totals = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        totals[finding.severity] += 1
    return totals


def message_lines(finding: Finding) -> list[str]:
    """The message, then the lines of the help."""
    return [finding.message, *(finding.help.split("\n") if finding.help else ())]


_CLUSTERS = attrgetter("clusters")


class Group(NamedTuple):
    """The findings of one rule at one location, which differ between clusters."""

    finding: Finding
    """The most severe, which is shown in full."""
    others: tuple[Finding, ...] = ()
    """Those of other clusters; empty if all that have one agree."""
    clusters: tuple[str, ...] = ()
    """All clusters of the run."""

    def lines(self) -> list[str]:
        """A line for each finding with its clusters, unless all agree; at most five of the others."""
        own = self.finding.clusters
        if not self.others and (not own or len(own) >= len(self.clusters)):
            return []
        lines = [_clusters(self.finding)]
        lines += [f"{_clusters(other)}: {other.message}" for other in self.others[:_MAX_OTHERS]]
        more = sum(len(other.clusters) for other in self.others[_MAX_OTHERS:])
        return lines + ([f"and {more} more clusters"] if more else [])


def grouped(findings: Sequence[Finding], clusters: tuple[str, ...]) -> list[Group]:
    """All groups: see `groups_of`."""
    return [*groups_of(findings, clusters)]


def groups_of(findings: Sequence[Finding], clusters: tuple[str, ...]) -> Iterable[Group]:
    """Findings in their order; those of one rule and location but different clusters are one group.

    `clusters`: all clusters of the run.
    """
    if not any(map(_CLUSTERS, findings)):
        return (Group(finding, (), clusters) for finding in findings)
    found: dict[tuple[object, ...], list[list[Finding]]] = {}
    for finding in findings:
        groups = found.setdefault((finding.path, finding.span, finding.code, finding.document), [])
        group = next((group for group in groups if _share_no_cluster(finding, group)), None)
        if group is None:
            groups.append([finding])
        else:
            group.append(finding)
    return [_group(group, clusters) for groups in found.values() for group in groups]


def fingerprints(findings: Iterable[tuple[str, Finding]]) -> Iterator[str]:
    """Identifies each (path, finding) across versions of its file: by rule, object and field, not by line.

    Equal findings of one field are numbered.
    """
    from hashlib import sha256  # takes longer to import than a small file to lint

    seen: Counter[tuple[str, ...]] = Counter()
    for path, finding in findings:
        resource = finding.resource
        key = (
            finding.code,
            path,
            "/".join((resource.api_version, str(resource))) if resource else "",
            finding.field or finding.pointer,
            finding.message,
        )
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        yield sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()[:32]


def _share_no_cluster(finding: Finding, group: Iterable[Finding]) -> bool:
    return bool(finding.clusters) and all(
        other.clusters and set(other.clusters).isdisjoint(finding.clusters) for other in group
    )


def _group(found: list[Finding], clusters: tuple[str, ...]) -> Group:
    if len(found) == 1:  # nearly always
        return Group(found[0], (), clusters)
    first, *others = sorted(found, key=lambda finding: finding.severity.rank)
    return Group(first, tuple(others), clusters)


def _clusters(finding: Finding) -> str:
    named, more = finding.clusters[:_MAX_CLUSTERS], len(finding.clusters) - _MAX_CLUSTERS
    noun = "cluster" if len(finding.clusters) == 1 else "clusters"
    return f"{noun} {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
