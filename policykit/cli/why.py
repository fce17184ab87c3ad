"""`policykit why`: why pods of a running cluster wait, or run where they do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    cluster_for,
    cluster_options,
    format_option,
    policy_option,
)
from policykit.cli.output import write_output
from policykit.errors import UsageError

if TYPE_CHECKING:
    from policykit.live.connection import Access


@click.command("why")
@click.argument("names", nargs=-1, required=True, metavar="POD|KIND/NAME...")
@policy_option
@allow_path
@format_option
@cluster_options
@cache_options
def command(
    names: tuple[str, ...],
    policy: str | None,
    format_: str,
    access: Access,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Explain why a pod is pending, or runs where it does: pools, room on their nodes, queue, gang, and the
    last message of its scheduler; then what would let it run. Nothing is changed.

    Without a policy, each node counts as a pool. Exit 0 if all pods have a node, 1 if some are pending.
    """
    if access.every_namespace:
        raise UsageError("names are those of one namespace", "use --namespace")
    from policykit.cli.live import reading, tell
    from policykit.cli.live_why import explanations
    from policykit.formats import why as formats

    cluster = cluster_for(os.getcwd(), policy, cache_of((policy or "",), cache_dir, no_cache))
    with reading(access) as read:
        found = explanations(read, names, cluster)
    write_output(formats.json_text(found) if format_ == "json" else formats.text(found))
    tell(read, absent=False)
    return int(not all(one.runs for one in found))
