"""`policykit audit`: a running cluster against its policy. Nothing is changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.linting.reports import ReportOptions, report_options
from policykit.cli.options import allow_path, cache_of, cache_options, cluster_options, policy_option
from policykit.errors import SourceError

if TYPE_CHECKING:
    from policykit.live.access import Access


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
    from policykit.cli.live.audit import audit
    from policykit.cli.live.inspection import cluster_of

    cluster = cluster_of(policy or "", cache_of((policy or "",), cache_dir, no_cache))
    if cluster is None:
        raise SourceError("no policy in this or any parent folder", "name one with -p", os.getcwd())
    return audit(access, cluster, reporting)
