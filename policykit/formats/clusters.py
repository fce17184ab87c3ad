"""Findings of one place on which clusters disagree, told together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from policykit.linter.finding import Finding

_MOST = 5
"""Other messages that are told of one place."""


class Group(NamedTuple):
    """What is found at one place by one rule."""

    finding: Finding
    """The gravest, of which everything is told."""
    others: tuple[Finding, ...] = ()
    """What other clusters have there; empty: all agree."""

    def lines(self) -> list[str]:
        """Each cluster with what it has otherwise, where they disagree; at most five of the others."""
        if not self.others:
            return []
        said = [_named(self.finding)]
        said += [f"{_named(other)}: {other.message}" for other in self.others[:_MOST]]
        more = sum(len(other.clusters) for other in self.others[_MOST:])
        return said + ([f"and {more} more clusters"] if more else [])


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Findings in their order; those of one place and rule that hold for different clusters are one."""
    found: dict[tuple[object, ...], list[list[Finding]]] = {}
    for finding in findings:
        groups = found.setdefault((finding.path, finding.span, finding.code, finding.document), [])
        group = next((group for group in groups if _is_apart(finding, group)), None)
        if group is None:
            groups.append([finding])
        else:
            group.append(finding)
    return [_group(group) for groups in found.values() for group in groups]


def _is_apart(finding: Finding, group: Iterable[Finding]) -> bool:
    """Whether no cluster of a finding has one of the group as well."""
    return bool(finding.clusters) and all(
        other.clusters and set(other.clusters).isdisjoint(finding.clusters) for other in group
    )


def _group(found: list[Finding]) -> Group:
    first, *others = sorted(found, key=lambda finding: finding.severity.rank)
    return Group(first, tuple(others))


def _named(finding: Finding) -> str:
    noun = "cluster" if len(finding.clusters) == 1 else "clusters"
    return f"{noun} {', '.join(finding.clusters)}"
