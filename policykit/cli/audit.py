"""`policykit audit`: a running cluster against its policy. Nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from policykit.cli import click
from policykit.cli.live import Objects, finish, lint_objects, read_objects, reading, setting_of
from policykit.cli.live_drift import Drift, comparison
from policykit.cli.options import allow_path, cache_of, cache_options, cluster_options, policy_option
from policykit.cli.reports import ReportOptions, report_options
from policykit.errors import SourceError
from policykit.importer.node_differences import Difference, differences
from policykit.importer.node_membership import membership
from policykit.linter.finding import Finding, Report, Resource
from policykit.linter.location import FieldLocation, LocatedObject
from policykit.linter.rule import GeneratedFile, Violation
from policykit.linter.violations import Location, finding_of
from policykit.linter.workspace import Policy, Setting
from policykit.live.connection import Access
from policykit.manifests.document import manifests
from policykit.manifests.node import Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.rules.placement.node_off_policy import RULE
from policykit.workspace.policies import hint_without_policy

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
    place = _place(raw.decode(), _path(difference)) if raw else FieldLocation(_START, ())
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


def _place(text: str, path: Path) -> FieldLocation:
    parsed = next(parse(text))
    if parsed.root is None:
        return FieldLocation(_START, ())
    manifest = next(manifests(parsed.root, 0))
    return LocatedObject(manifest, text).place(path)


@click.command("audit")
@policy_option
@allow_path
@report_options
@cluster_options
@cache_options
def command(
    policy: str | None,
    reporting: ReportOptions,
    access: Access,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Check a running cluster: nodes against the policy, live configurations of schedulers, queues, quotas
    and workloads by the rules of lint, and applied objects against what gen writes.

    Findings name objects. Nothing is changed, and no Secret is read. Exit codes are those of lint.
    """
    from policykit.cli.live import cluster_of

    cluster = cluster_of(policy or "", cache_of((policy or "",), cache_dir, no_cache))
    if cluster is None:
        hint = hint_without_policy("name one with -p")
        raise SourceError("no policy in this or any parent folder", hint, os.getcwd())
    return audit(access, cluster, reporting)
