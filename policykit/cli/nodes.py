"""`policykit nodes --check`: how live nodes differ from the policy, and the commands to fix them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    cluster_for,
    format_option,
    policy_option,
    whole_cluster_options,
)
from policykit.cli.output import print_message, write_output
from policykit.errors import SourceError, UsageError
from policykit.workspace.inputs import cluster_of_nodes, cluster_of_text, stdin
from policykit.workspace.policies import hint_without_policy

if TYPE_CHECKING:
    from policykit.live.connection import Access
    from policykit.model.cluster import Cluster


_FORMERLY = (
    "every node has the current labels and taints: once the workloads are patched, remove domain, usages and"
    " products from `formerly:`"
)


@click.command("nodes")
@click.option(
    "--check",
    "path",
    metavar="FILE",
    is_flag=False,
    flag_value="",
    help="Output of `kubectl get nodes -o json`; - for standard input; no FILE with --live.",
)
@policy_option
@allow_path
@format_option
@whole_cluster_options
@cache_options
def command(
    path: str | None,
    policy: str | None,
    format_: str,
    access: Access | None,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Compare live nodes with the policy: labels, taints, sizes and counts. Nothing is run or changed.

    Exit 0 if they match, 1 if they differ. Nodes that are cordoned, not ready or about to be removed
    are listed, and differ only if a pool has no others.
    """
    from policykit.formats import nodes as formats
    from policykit.importer.node_differences import differences, has_former_taints, steps
    from policykit.importer.node_membership import membership

    cache = cache_of((path or "", policy or ""), cache_dir, no_cache)
    live = _nodes(path or "", access)
    cluster = cluster_for(os.getcwd(), policy, cache)
    if cluster is None:
        hint = hint_without_policy("name one with -p")
        raise SourceError("no policy in this or any parent folder", hint, os.getcwd())
    where = membership(cluster, live.pools)
    found = differences(cluster, where)
    order = steps(found, cloud=bool(cluster.provider))
    write_output(formats.json_text(found, order) if format_ == "json" else formats.text(found, order))
    fails = any(each.fails for each in found)
    if not fails:
        matches = "1 node matches" if len(live.pools) == 1 else f"{len(live.pools)} nodes match"
        print_message(f"{matches} policy {cluster.name}")
        if cluster.formerly.on_nodes and not has_former_taints(cluster, where):
            print_message(_FORMERLY)
    return int(fails)


def _nodes(path: str, access: Access | None) -> Cluster:
    if bool(path) == (access is not None):
        raise UsageError("name either a file or --live", "policykit nodes --check FILE, or --check --live")
    if access is not None:
        from policykit.cli.live import cluster_of_nodes as cluster_of_live_nodes

        return cluster_of_live_nodes(access)
    return cluster_of_text(stdin(), "<stdin>") if path == "-" else cluster_of_nodes(path)
