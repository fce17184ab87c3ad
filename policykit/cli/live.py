"""A running cluster in place of files: the connection, its progress, and what commands read of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli.options import cluster_from
from policykit.cli.output import print_escaped, print_message
from policykit.cli.reports import ReportOptions, write
from policykit.errors import SourceError
from policykit.escape import one_line
from policykit.formats import FormatContext, text
from policykit.gates.pod_gates import Answer
from policykit.kube.nodes import read as read_node
from policykit.linter.finding import Report
from policykit.linter.input_file import InputFile
from policykit.linter.scope import AnyFact, with_runtime_classes
from policykit.linter.workspace import Options, Policy, Setting, Workspace
from policykit.live.connection import Access, connect
from policykit.live.kinds import NODE, Kind, Role, kinds, of_roles
from policykit.live.objects import ClusterReader
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review
from policykit.workspace.linting.request import today
from policykit.workspace.policies import nearest_policy

if TYPE_CHECKING:
    from policykit.workspace.cache.folder import Cache


@contextmanager
def reading(access: Access) -> Iterator[ClusterReader]:
    """A connection for a block. Raises ClusterError and UsageError."""
    progress = _Progress()
    client = connect(access)
    try:
        yield ClusterReader(client, progress)
    finally:
        progress.end()
        client.close()


def tell(read: ClusterReader, *, absent: bool = True) -> None:
    """Prints what was not read, and why; `absent`: also what is not installed."""
    for gap in read.gaps:
        print_message(f"policykit: {gap.resource} not read: {gap.reason}")
    if absent and read.absent:
        print_message(f"policykit: not installed, so not read: {', '.join(sorted(_absent(read)))}")


def _absent(read: ClusterReader) -> set[str]:
    """API groups of which nothing is there, and of others the kinds that are not."""
    groups = {kind.group for kind in read.present}
    return {kind.group if kind.group and kind.group not in groups else kind.shown for kind in read.absent}


class _Progress:
    """A line on a terminal that says how far reading has come."""

    def __init__(self) -> None:
        self._shown = 0
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, what: str, number: int) -> None:
        if self._on:
            line = one_line(f"reading {what}: {number}")
            print_escaped(f"\r{line:<{self._shown}}\r", newline=False)
            self._shown = len(line)

    def end(self) -> None:
        """Clears the line."""
        if self._shown:
            print_escaped(f"\r{'':<{self._shown}}\r", newline=False)
            self._shown = 0


def cluster_of_nodes(access: Access) -> Cluster:
    """One pool per node. Raises ClusterError, and SourceError if there is none that may be read."""
    with reading(access) as read:
        found = nodes_as_cluster(read)
    tell(read)
    return found


def nodes_as_cluster(read: ClusterReader) -> Cluster:
    """The same within a look at the cluster."""
    return as_cluster([read_node(item) for _, item in read.items((NODE,))], read)


def as_cluster(nodes: Sequence[Pool], read: ClusterReader) -> Cluster:
    """Nodes that were read. Raises SourceError if there are none."""
    if not nodes:
        why = read.gaps[-1].reason if read.gaps else "it has none"
        raise SourceError(f"no nodes: {why}", "nodes are needed: see the ClusterRole in docs/live.md")
    return Cluster("nodes", tuple(nodes), observed=True, complete=True, source=read.client.server)


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


def read_objects(read: ClusterReader, cluster: Cluster | None) -> Objects:
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
    input_files = tuple(InputFile(name, name, _SCOPE, 0) for name in sorted(objects.texts))
    return Workspace(
        input_files,
        (setting,),
        lambda name: objects.texts.get(name, b""),
        lambda _: input_files,
        sizes=tuple(len(objects.texts[input_file.path]) for input_file in input_files),
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
    report: Report, objects: Objects, setting: Setting, reporting: ReportOptions, read: ClusterReader
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


def lint_cluster(access: Access, policy: str, cache: Cache, reporting: ReportOptions) -> int:
    """Prints findings; the exit code."""
    cluster = cluster_of(policy, cache)
    setting = setting_of(reporting, cluster)
    with reading(access) as read:
        objects = read_objects(read, cluster)
    report = lint_objects(objects, setting)
    return finish(report, objects, setting, reporting, read)


_SCHEDULERS = Kind("apps", "Deployment", Role.CONFIGURATIONS)


def texts_of(access: Access) -> dict[str, bytes]:
    """Nodes, queues, quotas, and what configures the schedulers, by the names of the objects."""
    wanted = (*of_roles(Role.NODES, Role.QUOTAS, Role.CONFIGURATIONS), _SCHEDULERS)
    with reading(access) as read:
        found = {each.name: each.text for each in read.objects(wanted, system_namespaces())}
    tell(read)
    return found


def answers(access: Access, cluster: Cluster | None) -> Iterator[Answer]:
    """Every pod set, under a policy; without one, on the nodes that are there. Raises ClusterError."""
    reviews: list[tuple[str, Review]] = []
    facts: list[AnyFact] = []
    with reading(access) as read:
        cluster = cluster or nodes_as_cluster(read)
        for each in read.objects(of_roles(Role.QUOTAS, Role.WORKLOADS)):
            own = api.facts(each.name, each.text, cluster)
            cluster = with_runtime_classes(cluster, own)  # these come before the pods
            reviews.extend((each.name, review) for review in api.where(each.text, cluster))
            facts.extend(own)
    tell(read)
    # What one may not read is absent here and yet exists.
    return api.answers(reviews, facts, cluster, complete=False)
