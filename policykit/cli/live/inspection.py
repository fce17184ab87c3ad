"""Lints the objects of a cluster: what `lint --live` and `audit` have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli.linting.reports import ReportOptions, write
from policykit.cli.live.session import tell
from policykit.cli.output import print_message
from policykit.cli.policy import cluster_from
from policykit.formats import FormatContext, text
from policykit.linter.finding import Report
from policykit.linter.member import Member
from policykit.linter.workspace import Options, Policy, Setting, Workspace
from policykit.live.kinds import NODE, Role, kinds
from policykit.live.reading import Reading
from policykit.namedtuple import NamedTuple
from policykit.workspace.linting.request import today
from policykit.workspace.policies import nearest_policy

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Pool
    from policykit.workspace.cache.folder import Cache

_SCOPE = "cluster"
_KUBE_SYSTEM = "kube-system"


class Objects(NamedTuple):
    """The objects of a cluster as texts, by their names."""

    texts: Mapping[str, bytes]
    complete: bool
    """They are all that the cluster has."""
    nodes: tuple[Pool, ...] = ()
    server: str = ""
    """Release of the API server; empty: unknown."""


def cluster_of(policy: str, cache: Cache) -> Cluster | None:
    """The policy with this name, else that of the current folder; None: there is none."""
    reference = policy or nearest_policy(os.getcwd())
    return cluster_from(reference, cache) if reference else None


def setting_of(reporting: ReportOptions, cluster: Cluster | None) -> Setting:
    """Raises UsageError for a rule that does not exist."""
    lint = cluster.lint if cluster else None
    return api.setting(cluster, lint, reporting.select, reporting.ignore, preset=reporting.preset)


def read_objects(read: Reading, cluster: Cluster | None) -> Objects:
    """Everything that rules look at. Raises ClusterError."""
    from policykit.kube.nodes import read as read_node
    from policykit.linter.configurations import hinted
    from policykit.targets import CONFIGURATIONS

    texts: dict[str, bytes] = {}
    nodes: list[Pool] = []
    for each in read.objects(kinds(), system_namespaces(cluster)):
        raw = each.text
        if each.resource.kind.role is not Role.CONFIGURATIONS or hinted(raw.decode(), CONFIGURATIONS):
            texts[each.name] = raw
        if each.resource.kind == NODE:
            nodes.append(read_node(each.data))
    return Objects(texts, read.complete, tuple(nodes), read.server_version())


def system_namespaces(cluster: Cluster | None = None) -> tuple[str, ...]:
    """Where the configurations of schedulers are: as the charts install them, or as the policy says."""
    from policykit.targets import TARGETS

    usual = [target.import_reader.load().namespace for target in TARGETS if target.import_reader]
    stated = [each.namespace for each in cluster.targets.values()] if cluster else []
    return tuple(sorted({_KUBE_SYSTEM, *usual, *stated} - {""}))


def lint_objects(objects: Objects, setting: Setting, policies: Sequence[Policy] = ()) -> Report:
    """The findings about objects of a cluster. Fixes are left out: there are no files to change."""
    return api.lint(workspace_of(objects, setting, policies), Options(today=today()))


def workspace_of(objects: Objects, setting: Setting, policies: Sequence[Policy] = ()) -> Workspace:
    """Each object as a file, with all of them in one scope."""
    members = tuple(Member(name, name, _SCOPE, 0) for name in sorted(objects.texts))
    return Workspace(
        members,
        (setting,),
        lambda name: objects.texts.get(name, b""),
        lambda _: members,
        sizes=tuple(len(objects.texts[member.path]) for member in members),
        policies=tuple(policies),
        incomplete=frozenset() if objects.complete else frozenset({0}),
    )


def another_release(cluster: Cluster | None, server: str) -> Iterator[str]:
    """Where objects are not judged as the release of the server: the policy states another one, or none."""
    from policykit.model.release import is_release
    from policykit.targets import DEFAULT_TARGET, target_of

    default = target_of(DEFAULT_TARGET)
    if cluster is None or default is None or default.releases is None or not is_release(server):
        return
    known = default.releases.load()
    running, stated = known.parse(server), cluster.kubernetes_version
    if not stated:
        advice = f'write kubernetes: "{running.major}.{running.minor}", to be told what that release lacks'
        yield f"policykit: {cluster.source}: kubernetes not set, but the server runs {server}: {advice}"
    elif known.parse(stated)[:2] != running[:2]:
        yield f"policykit: {cluster.source}: judged as Kubernetes {stated}, but the server runs {server}"


def finish(
    report: Report, objects: Objects, setting: Setting, reporting: ReportOptions, read: Reading
) -> int:
    """Writes the report and tells the rest; the exit code."""
    clusters = (setting.cluster.name,) if setting.cluster else ()
    context = FormatContext(
        lambda path: objects.texts.get(path, b""),
        "",
        tuple(sorted(objects.texts)),
        clusters=clusters,
        live=True,
    )
    done = write(report, reporting.outputs, context, reporting.color, stdout_taken=False)
    for line in text.statistics(report) if reporting.statistics else ():
        print_message(line)
    tell(read)
    for line in another_release(setting.cluster, objects.server):
        print_message(line)
    for failure in report.failures:
        print_message(failure)
    where = f"namespace {read.client.namespace}" if read.client.namespace else "all namespaces"
    print_message(f"{text.live_summary(report)} in {where} of {read.client.name}")
    if report.failures or not done:
        return 2
    return int(reporting.fails(report))
