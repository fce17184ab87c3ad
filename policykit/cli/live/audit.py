"""A cluster against its policy: lint of its objects, its nodes, and what was generated for it."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.cli.linting.reports import ReportOptions
from policykit.cli.live.generated import Drift, comparison
from policykit.cli.live.inspection import Objects, finish, lint_objects, read_objects, setting_of
from policykit.cli.live.session import reading
from policykit.importer.node_differences import Difference, differences
from policykit.importer.node_membership import membership
from policykit.linter.finding import Finding, Report, Resource
from policykit.linter.locate import Location, finding_of
from policykit.linter.location import LocatedObject, Place
from policykit.linter.rule import Violation
from policykit.linter.subjects import GeneratedFile
from policykit.linter.workspace import Policy, Setting
from policykit.live.access import Access
from policykit.manifests.document import manifests
from policykit.manifests.node import Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.rules.placement.node_off_policy import RULE

_START = Span(1, 1, 1, 1)


def audit(access: Access, cluster: Cluster, reporting: ReportOptions) -> int:
    """Prints findings; the exit code. Raises ClusterError."""
    setting = setting_of(reporting, cluster)
    with reading(access) as read:
        objects = read_objects(read, cluster)
        drift = comparison(read, cluster)
    report = lint_objects(objects, setting, [Policy(0, drifted=tuple(_drifted(drift, cluster)))])
    report = _with_nodes(report, objects, setting, cluster)
    return finish(report, objects, setting, reporting, read)


def _drifted(drift: Drift, cluster: Cluster) -> Iterator[GeneratedFile]:
    for each in drift.compared:
        if each.there != each.wanted:
            yield GeneratedFile(each.name, cluster.source, each.there, each.wanted, live=True)
    for left in drift.abandoned:
        yield GeneratedFile(left.name, cluster.source, left.there, None, live=True)


def _with_nodes(report: Report, objects: Objects, setting: Setting, cluster: Cluster) -> Report:
    """The report with all that differs between nodes and policy, in place of what the rule about Node
    manifests can say of one node alone."""
    if not objects.nodes:
        return report
    others = [
        one
        for one in report.findings
        if one.code != RULE.code or one.resource is None or one.resource.kind != "Node"
    ]
    found = [_finding(each, objects) for each in differences(cluster, membership(cluster, objects.nodes))]
    kept = setting.selection.apply(one._replace(clusters=(cluster.name,)) for one in found)
    return report._replace(findings=tuple(sorted([*others, *kept], key=Finding.sort_key)))


def _finding(difference: Difference, objects: Objects) -> Finding:
    """About a node, or about a pool that has too few or too many."""
    name = f"Node {difference.node}" if difference.node else f"pool {difference.pool}"
    resource = Resource("v1", "Node", None, difference.node) if difference.node else None
    raw = objects.texts.get(name, b"")
    place = _place(raw.decode(), _path(difference)) if raw else Place(_START, ())
    severity = None if difference.fails else Severity.INFO
    violation = Violation(place.span, difference.message, difference.help or _FIX, severity)
    return finding_of(RULE, violation, Location(name, place, resource=resource))


_FIX = "`policykit nodes --check --live` prints the commands"


def _path(difference: Difference) -> Path:
    """What of a Node a difference is about."""
    if "label" in difference.kind:
        return ("metadata", "labels", *(difference.label[:1] if difference.label else ()))
    if "taint" in difference.kind:
        return ("spec", "taints")
    return ("status", "allocatable") if difference.kind == "too-small" else ()


def _place(text: str, path: Path) -> Place:
    parsed = next(parse(text))
    if parsed.root is None:
        return Place(_START, ())
    manifest = next(manifests(parsed.root, 0))
    return LocatedObject(manifest, text).place(path)
