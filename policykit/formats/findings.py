"""What several formats share: totals, message lines, groups of findings, fingerprints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from policykit.linter.finding import Finding, Report
from policykit.namedtuple import NamedTuple

_MAX_OTHERS = 5
"""Most other messages to show for one location."""


def counted(amount: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{amount} {noun if amount == 1 else noun + 's'}"


def tally(report: Report) -> dict[str, int]:
    """Findings by severity, most severe first."""
    totals = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        totals[finding.severity.value] += 1
    return totals


def message_lines(finding: Finding) -> list[str]:
    """The message, then the lines of the help."""
    return [finding.message, *(finding.help.split("\n") if finding.help else ())]


class Group(NamedTuple):
    """The findings of one rule at one location, which differ between clusters."""

    finding: Finding
    """The most severe, which is shown in full."""
    others: tuple[Finding, ...] = ()
    """Those of other clusters; empty if all clusters agree."""

    def lines(self) -> list[str]:
        """A line for each finding with its clusters, if they disagree; at most five of the others."""
        if not self.others:
            return []
        lines = [_clusters(self.finding)]
        lines += [f"{_clusters(other)}: {other.message}" for other in self.others[:_MAX_OTHERS]]
        more = sum(len(other.clusters) for other in self.others[_MAX_OTHERS:])
        return lines + ([f"and {more} more clusters"] if more else [])


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Findings in their order; those of one rule and location but different clusters are one group."""
    found: dict[tuple[object, ...], list[list[Finding]]] = {}
    for finding in findings:
        groups = found.setdefault((finding.path, finding.span, finding.code, finding.document), [])
        group = next((group for group in groups if _share_no_cluster(finding, group)), None)
        if group is None:
            groups.append([finding])
        else:
            group.append(finding)
    return [_group(group) for groups in found.values() for group in groups]


def fingerprints(findings: Iterable[tuple[str, Finding]]) -> Iterator[str]:
    """Identifies each (path, finding) across versions of its file: by rule, object and field, not by line.

    Equal findings of one field are numbered.
    """
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


def _group(found: list[Finding]) -> Group:
    first, *others = sorted(found, key=lambda finding: finding.severity.rank)
    return Group(first, tuple(others))


def _clusters(finding: Finding) -> str:
    noun = "cluster" if len(finding.clusters) == 1 else "clusters"
    return f"{noun} {', '.join(finding.clusters)}"
