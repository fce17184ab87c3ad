"""`policykit cards [NAME]`: the catalogue of accelerator cards."""

from __future__ import annotations

import click

from policykit.catalogue import listing
from policykit.cli.output import emit


@click.command("cards")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List vendors and cards, or describe one card."""
    emit(listing.page(name) if name else listing.listing())
    return 0
