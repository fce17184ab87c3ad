"""`policykit where`: for each pod set and pool: preferred, accepted, or the first reason against."""

from __future__ import annotations

import click

from policykit import api
from policykit.cli.linting.messages import about_builds
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    format_option,
    namespace_option,
    policy_option,
)
from policykit.cli.output import print_error, print_message, write_output
from policykit.errors import UsageError
from policykit.formats import where as formats
from policykit.model.cluster import Cluster
from policykit.workspace.linting.request import Request
from policykit.workspace.linting.workspace import open_units


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
    """Show which pools each pod set can run in, and the first reason why others refuse it.

    A file that several clusters apply is shown for each of them, as kustomize or helm builds it there.
    """
    if policy and nodes:
        raise UsageError("-p and --nodes cannot be combined", "use either the policy or the nodes")
    paths = paths or (".",)
    cache = cache_of((*paths, policy or ""), cache_dir, no_cache)
    fixed = _nodes(nodes) if nodes else None
    request = Request(paths, (policy,) if policy else (), namespace=namespace, cache=cache)
    workspace, notes = open_units(request)
    if fixed:
        settings = tuple(each._replace(cluster=fixed) for each in workspace.settings)
        workspace = workspace._replace(settings=settings)
    reviews = api.unit_reviews(workspace)
    write_output((formats.json_text if format_ == "json" else formats.text)(reviews.found))
    failures = (*notes.failures, *reviews.failures)
    for line in (*notes.policy_notices, *failures):
        print_error(line)
    for line in about_builds(workspace, notes, every=False):
        print_message(line)
    for path in reviews.patches:
        print_message(f"policykit: {path}: a patch of a kustomization that was not built")
    if not reviews.found and not failures:
        print_message("policykit: no pods found")
    return 2 if failures else 0


def _nodes(path: str) -> Cluster:
    from policykit.workspace.inputs import cluster_of_nodes

    return cluster_of_nodes(path)
