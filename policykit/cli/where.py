"""`policykit where`: for each pod set and pool: preferred, accepted, or the first reason against."""

from __future__ import annotations

import os

from policykit import api
from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    format_option,
    namespace_option,
    policy_option,
)
from policykit.cli.output import print_error, print_message, write_output
from policykit.cli.policy import cluster_for
from policykit.errors import Failures, SourceError, UsageError
from policykit.formats import where as formats
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from policykit.workspace.files import discover, read
from policykit.workspace.inputs import stdin
from policykit.workspace.scopes import kustomization_namespace

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
@cache_options
def command(
    paths: tuple[str, ...],
    policy: str | None,
    nodes: str | None,
    format_: str,
    namespace: str,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Show which pools each pod set can run in, and the first reason why others refuse it."""
    if policy and nodes:
        raise UsageError("-p and --nodes cannot be combined", "use either the policy or the nodes")
    cache = cache_of((*(paths or (".",)), policy or ""), cache_dir, no_cache)
    fixed = _nodes(nodes) if nodes else None
    reviewed: list[tuple[str, Review]] = []
    failures = Failures()
    for path in _inputs(paths or (".",), failures):
        with failures.collect(_shown(path)):
            folder = os.path.dirname(os.path.abspath(path))
            cluster = fixed or cluster_for(folder, policy, cache)
            if cluster is None:
                raise SourceError(
                    "no policy in this or any parent folder", "name one with -p, or nodes with --nodes"
                )
            default_namespace = namespace or kustomization_namespace(folder) or "default"
            found = [*api.where(_content(path), cluster, default_namespace)]
            reviewed.extend((_shown(path), review) for review in found)
    write_output(formats.json_text(reviewed) if format_ == "json" else formats.text(reviewed))
    for failure in failures:
        print_error(failure)
    if not reviewed and not failures:
        print_message("policykit: no pods found")
    return 2 if failures else 0


def _nodes(path: str) -> Cluster:
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
