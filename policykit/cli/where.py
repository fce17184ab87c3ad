"""`policykit where`: for each pod set and pool: preferred, accepted, or the first reason against."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from policykit import api
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    format_option,
    live_options,
    namespace_option,
    policy_option,
)
from policykit.cli.output import print_error, print_message, write_output
from policykit.cli.policy import cluster_for
from policykit.errors import Failures, SourceError, UsageError
from policykit.formats import where as formats
from policykit.gates.gate import REFUSED
from policykit.linter.scope import AnyFact
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from policykit.workspace.files import discover, read
from policykit.workspace.inputs import stdin
from policykit.workspace.scopes import kustomization_namespace

if TYPE_CHECKING:
    from policykit.gates.pod_gates import Answer
    from policykit.live.access import Access
    from policykit.workspace.cache.folder import Cache

_STDIN = "-"


@click.command("where")
@click.argument("paths", nargs=-1)
@policy_option
@allow_path
@click.option(
    "--nodes",
    metavar="FILE",
    help="Use live nodes instead of a policy: output of `kubectl get nodes -o json`.",
)
@format_option
@namespace_option
@live_options
@cache_options
def command(
    paths: tuple[str, ...],
    policy: str | None,
    nodes: str | None,
    format_: str,
    namespace: str,
    cache_dir: str | None,
    no_cache: bool,
    access: Access | None,
) -> int:
    """Show which pools each pod set can run in, why others refuse it, and what else holds it.

    Exits with 1 if something certainly keeps the pods of an object from running. With --live, pods are
    those of a running cluster; with --live and PATHS, nodes are those of a running cluster and pods are
    those of the files.
    """
    if policy and nodes:
        raise UsageError("-p and --nodes cannot be combined", "use either the policy or the nodes")
    cache = cache_of((*(paths or (".",)), policy or ""), cache_dir, no_cache)
    failures = Failures()
    if access is not None and not paths:
        answers = [*_of_cluster(access, policy, nodes, cache)]
    else:
        fixed = _nodes(nodes, policy, access)
        answers = [*_of_files(paths or (".",), policy, fixed, namespace, cache, failures)]
    write_output(formats.json_text(answers) if format_ == "json" else formats.text(answers))
    for failure in failures:
        print_error(failure)
    if not answers and not failures:
        print_message("policykit: no pods found")
    if failures:
        return 2
    return int(any(answer.state == REFUSED and not answer.review.manifest.partial for answer in answers))


def _of_files(
    paths: tuple[str, ...],
    policy: str | None,
    fixed: Cluster | None,
    namespace: str,
    cache: Cache,
    failures: Failures,
) -> Iterator[Answer]:
    """Each pod set of the files, under their policies or under the one that is fixed."""
    found: dict[str, _Reviewed] = {}
    for path in _inputs(paths, failures):
        with failures.collect(_shown(path)):
            folder = os.path.dirname(os.path.abspath(path))
            cluster = fixed or cluster_for(folder, policy, cache)
            if cluster is None:
                raise SourceError(
                    "no policy in this or any parent folder", "name one with -p, or nodes with --nodes"
                )
            default_namespace = namespace or kustomization_namespace(folder) or "default"
            group = found.setdefault(cluster.source, _Reviewed(cluster, [], []))
            group.add(_shown(path), _content(path), default_namespace)
    complete = all(os.path.isdir(path) for path in paths) and not failures
    for group in found.values():
        yield from api.answers(group.reviews, group.facts, group.cluster, complete=complete)


class _Reviewed(NamedTuple):
    """The files of one cluster."""

    cluster: Cluster
    reviews: list[tuple[str, Review]]
    facts: list[AnyFact]

    def add(self, path: str, raw: bytes, namespace: str) -> None:
        self.reviews.extend((path, review) for review in api.where(raw, self.cluster, namespace))
        self.facts.extend(api.facts(path, raw, self.cluster, namespace))


def _of_cluster(access: Access, policy: str | None, nodes: str | None, cache: Cache) -> Iterator[Answer]:
    """Each pod set of a running cluster."""
    from policykit.cli.live.where import answers

    return answers(access, _nodes(nodes, policy, None) or cluster_for(os.getcwd(), policy, cache))


def _nodes(path: str | None, policy: str | None, access: Access | None) -> Cluster | None:
    """Nodes in place of a policy; None: the policy counts."""
    if access is not None:
        if policy or path:
            raise UsageError(
                "with PATHS, --live replaces the policy: -p and --nodes cannot be combined with it",
                "omit PATHS to see the pods of the cluster",
            )
        from policykit.cli.live.nodes import cluster_of_nodes as cluster_of_live_nodes

        return cluster_of_live_nodes(access)
    if path is None:
        return None
    from policykit.workspace.inputs import cluster_of_nodes

    return cluster_of_nodes(path)


def _inputs(paths: tuple[str, ...], failures: Failures) -> list[str]:
    """Standard input first, then files in order."""
    for path in paths:
        if path != _STDIN and not os.path.lexists(path):
            failures.add(SourceError("no such file or folder", "check the path"), path)
    files = discover([path for path in paths if path != _STDIN and os.path.lexists(path)])
    return [_STDIN] * (_STDIN in paths) + [file.path for file in files]


def _content(path: str) -> bytes:
    return stdin() if path == _STDIN else read(path)


def _shown(path: str) -> str:
    return "<stdin>" if path == _STDIN else path
