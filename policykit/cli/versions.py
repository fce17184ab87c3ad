"""`versions`: the releases of each system that policykit knows, and what only some of them have."""

from __future__ import annotations

from policykit.cli import click
from policykit.cli.output import write_output
from policykit.errors import UsageError


@click.command("versions")
@click.argument("target_name", metavar="[SYSTEM]", required=False)
def command(target_name: str | None) -> int:
    """List the releases that are known, or what differs between the releases of one system."""
    from policykit.targets import release_listing

    known = release_listing.targets()
    if target_name is None:
        write_output(release_listing.listing())
        return 0
    if target_name not in known:
        raise UsageError(f"unknown system {target_name!r}", f"known systems: {', '.join(known)}")
    write_output(release_listing.page(target_name))
    return 0
