"""`policykit where`: pod set by pool, preferred, accepted, or the first reason against."""

from __future__ import annotations

import os
import sys

import click

from policykit import api
from policykit.cli.caching import cache_of, cache_options
from policykit.cli.output import emit, say
from policykit.cli.policy import cluster_for
from policykit.errors import SourceError, UsageError
from policykit.formats import where as formats
from policykit.model.cluster import Cluster
from policykit.placement.review import Review
from policykit.sources.files import discover, read
from policykit.sources.scopes import kustomization_namespace


@click.command("where")
@click.argument("paths", nargs=-1)
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml upwards.",
)
@click.option(
    "--nodes", metavar="FILE", help="Judge by real nodes: the output of `kubectl get nodes -o json`."
)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option(
    "--namespace",
    metavar="NAME",
    default="",
    help="Where objects without a namespace stand. Default: where their kustomization says, else default.",
)
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
    """Say where each pod set can land, and the first reason why not elsewhere."""
    if policy and nodes:
        raise UsageError("-p and --nodes exclude each other", "judge by the policy, or by the nodes")
    cache = cache_of((*(paths or (".",)), policy or ""), cache_dir, no_cache)
    fixed = _nodes(nodes) if nodes else None
    reviewed: list[tuple[str, Review]] = []
    for path, raw in _inputs(paths or (".",)):
        folder = os.path.dirname(os.path.abspath(path))
        cluster = fixed or cluster_for(folder, policy, cache)
        if cluster is None:
            raise SourceError("no policy above this file", "give one with -p, or nodes with --nodes", path)
        stands_in = namespace or kustomization_namespace(folder) or "default"
        reviewed.extend((path, review) for review in api.where(raw, cluster, stands_in))
    emit(formats.json_text(reviewed) if format_ == "json" else formats.text(reviewed))
    if not reviewed:
        say("policykit: no pods in there")
    return 0


def _nodes(path: str) -> Cluster:
    from policykit.sources.nodes import cluster_of_nodes

    return cluster_of_nodes(path)


def _inputs(paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
    if "-" in paths and sys.stdin is None:
        raise SourceError("standard input is closed", "give it a file, or a pipe")
    found = [("<stdin>", sys.stdin.buffer.read())] if "-" in paths else []
    files = discover([path for path in paths if path != "-"])
    return found + [(file.path, read(file.path)) for file in files]
