"""`policykit audit`: a running cluster against its policy. Nothing is changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from policykit.cli import click
from policykit.cli.linting.reports import outputs
from policykit.cli.options import allow_path, cache_of, cache_options, cluster_options, policy_option
from policykit.errors import SourceError
from policykit.formats import FORMATS
from policykit.linter.selection import PRESETS
from policykit.model.severity import Severity

if TYPE_CHECKING:
    from policykit.live.access import Access


@click.command("audit")
@policy_option
@allow_path
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    help=f"As for lint: {', '.join(FORMATS)}. Default: text.",
)
@click.option("--output", metavar="FILE", default="", help="Write findings to FILE.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True)
@click.option("--preset", type=click.Choice(PRESETS), default=None, help="Rules to run, as for lint.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Skip these rules.")
@click.option(
    "--fail-on",
    type=click.Choice([s.value for s in Severity]),
    default="warning",
    show_default=True,
    help="Lowest severity that fails the run; info never does.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.option("--statistics", is_flag=True, help="Print findings per rule to stderr.")
@cluster_options
@cache_options
def command(
    policy: str | None,
    formats: tuple[str, ...],
    output: str,
    color: str,
    preset: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    exit_zero: bool,
    statistics: bool,
    access: Access,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Check a running cluster: nodes against the policy, live configurations of schedulers, queues, quotas
    and workloads by the rules of lint, and applied objects against what gen writes.

    Findings name objects. Nothing is changed, and no Secret is read. Exit codes are those of lint.
    """
    from policykit.cli.live.audit import audit
    from policykit.cli.live.inspection import Choice, cluster_of, words

    choice = Choice(
        policy or "",
        preset or "",
        words(select),
        words(ignore),
        outputs(formats, output),
        color,
        Severity(fail_on),
        exit_zero,
        statistics,
        cache_of((policy or "",), cache_dir, no_cache),
    )
    cluster = cluster_of(choice)
    if cluster is None:
        raise SourceError("no policy in this or any parent folder", "name one with -p", os.getcwd())
    return audit(access, choice, cluster)
