"""Commands `cards`, `schema` and `versions`: they list what policykit knows, or show one entry."""

from __future__ import annotations

import os

from policykit import bundled
from policykit.cli import click
from policykit.cli.output import write_output
from policykit.errors import UsageError
from policykit.nearest import nearest


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
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else "`policykit schema` lists them"
        raise UsageError(f"unknown schema {name!r}", hint)
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

    if target_name is None:
        write_output(releases.listing())
        return 0
    name = releases.named(target_name)
    if not name:
        known = ", ".join(releases.targets())
        raise UsageError(f"unknown system {target_name!r}", f"known systems: {known}")
    write_output(releases.page(name))
    return 0
