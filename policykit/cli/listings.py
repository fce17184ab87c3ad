"""Commands `cards`, `schema` and `versions`: they list what policykit knows, or show one entry."""

from __future__ import annotations

import os

from policykit import bundled
from policykit.cli import click
from policykit.cli.output import write_output
from policykit.errors import UsageError


@click.command("cards")
@click.argument("name", required=False)
def cards(name: str | None) -> int:
    """List vendors and cards, or describe one card."""
    from policykit.catalogue import listing

    write_output(listing.page(name) if name else listing.listing())
    return 0


@click.command("schema")
@click.argument("name", required=False)
def schema(name: str | None) -> int:
    """List the bundled JSON Schemas, or print one (`policykit schema policy`)."""
    known = _schema_names()
    if name is None:
        write_output("\n".join(known) + "\n")
        return 0
    if name not in known:
        raise UsageError(f"unknown schema {name!r}", f"bundled schemas: {', '.join(known)}")
    write_output(bundled.read("schemas", f"{name}.json").decode("utf-8"))
    return 0


def _schema_names() -> tuple[str, ...]:
    """`policy`, `findings`, and the schemas of API kinds by folder: `kubernetes/apps`."""
    folders = sorted(
        n for n in os.listdir(bundled.path("schemas")) if os.path.isdir(bundled.path("schemas", n))
    )
    shapes = [
        f"{folder}/{name}" for folder in folders for name in bundled.names("schemas", folder, suffix=".json")
    ]
    return ("policy", "findings", *shapes)


@click.command("versions")
@click.argument("target_name", metavar="[SYSTEM]", required=False)
def versions(target_name: str | None) -> int:
    """List the releases that are known, or what differs between the releases of one system."""
    from policykit.targets import releases

    known = releases.targets()
    if target_name is None:
        write_output(releases.listing())
        return 0
    if target_name not in known:
        raise UsageError(f"unknown system {target_name!r}", f"known systems: {', '.join(known)}")
    write_output(releases.page(target_name))
    return 0
