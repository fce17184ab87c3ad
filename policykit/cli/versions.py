"""`versions`: the releases of each system that policykit knows, and what only some of them have."""

from __future__ import annotations

import click

from policykit.cli.output import emit
from policykit.errors import UsageError


@click.command("versions")
@click.argument("system", required=False)
def command(system: str | None) -> int:
    """List the releases that are known, or what differs between the releases of one system."""
    from policykit.targets import release_listing

    known = release_listing.systems()
    if system is None:
        emit(release_listing.listing())
        return 0
    if system not in known:
        raise UsageError(f"unknown system {system!r}", f"known systems: {', '.join(known)}")
    emit(release_listing.page(system))
    return 0
