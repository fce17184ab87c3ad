"""`policykit where`: for each pod set and pool: preferred, accepted, or the first reason against."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    cluster_for,
    format_option,
    live_options,
    namespace_option,
    policy_option,
)
from policykit.cli.output import print_error, print_message, write_output
from policykit.cli.reports import about_builds
from policykit.errors import UsageError
from policykit.formats import where as formats
from policykit.gates import REFUSED
from policykit.model.cluster import Cluster
from policykit.workspace.linting.loader import open_units
from policykit.workspace.linting.request import Request

if TYPE_CHECKING:
    from policykit.gates.pod_gates import Answer
    from policykit.live.connection import Access
    from policykit.workspace.cache.folder import Cache


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
    """Show which pools each pod set can run in, why others refuse it, and what else blocks it.

    A file that several clusters apply is shown for each of them, as kustomize or helm builds it there.
    Exits with 1 if something certainly keeps the pods of an object from running. With --live, pods are
    those of a running cluster; with --live and PATHS, nodes are those of a running cluster and pods are
    those of the files.
    """
    if policy and nodes:
        raise UsageError("-p and --nodes cannot be combined", "use either the policy or the nodes")
    cache = cache_of((*(paths or (".",)), policy or ""), cache_dir, no_cache)
    if access is not None and not paths:
        answers = tuple(_of_cluster(access, policy, nodes, cache))
        return _write(answers, (), format_, live=True)
    fixed = _nodes(nodes, policy, access)
    paths = paths or (".",)
    request = Request(paths, (policy,) if policy else (), namespace=namespace, cache=cache)
    workspace, notes = open_units(request)
    if fixed:
        settings = tuple(each._replace(cluster=fixed) for each in workspace.settings)
        workspace = workspace._replace(settings=settings)
    whole = all(os.path.isdir(path) for path in paths) and not notes.failures
    answers, failures, patches = api.unit_answers(workspace, complete=whole)
    code = _write(answers, (*notes.failures, *failures), format_)
    for notice in notes.policy_notices:
        print_error(notice)
    for line in about_builds(workspace, notes, every=False):
        print_message(line)
    for path in patches:
        print_message(f"policykit: {path}: a patch of a kustomization that was not built")
    return code


def _write(answers: Sequence[Answer], failures: Sequence[str], format_: str, *, live: bool = False) -> int:
    """Prints everything, and returns the exit code."""
    write_output(formats.json_text(answers) if format_ == "json" else formats.text(answers, live=live))
    for failure in failures:
        print_error(failure)
    if not answers and not failures:
        print_message("policykit: no pods found")
    if failures:
        return 2
    return int(any(answer.state == REFUSED and not answer.review.manifest.partial for answer in answers))


def _of_cluster(access: Access, policy: str | None, nodes: str | None, cache: Cache) -> Iterator[Answer]:
    """Each pod set of a running cluster."""
    from policykit.cli.live import answers

    return answers(access, _nodes(nodes, policy, None) or cluster_for(os.getcwd(), policy, cache))


def _nodes(path: str | None, policy: str | None, access: Access | None) -> Cluster | None:
    """Nodes in place of a policy; None: the policy counts."""
    if access is not None:
        if policy or path:
            raise UsageError(
                "with PATHS, --live replaces the policy: -p and --nodes cannot be combined with it",
                "omit PATHS to see the pods of the cluster",
            )
        from policykit.cli.live import cluster_of_nodes as cluster_of_live_nodes

        return cluster_of_live_nodes(access)
    if path is None:
        return None
    from policykit.workspace.inputs import cluster_of_nodes

    return cluster_of_nodes(path)
