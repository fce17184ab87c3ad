"""`policykit schema [NAME]`: bundled JSON Schemas."""

from __future__ import annotations

import os

import click

from policykit import bundled
from policykit.cli.output import emit
from policykit.errors import UsageError


@click.command("schema")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the bundled JSON Schemas, or print one (`policykit schema policy`)."""
    known = _names()
    if name is None:
        emit("\n".join(known) + "\n")
        return 0
    if name not in known:
        raise UsageError(f"unknown schema {name!r}", f"bundled schemas: {', '.join(known)}")
    emit(bundled.read("schemas", f"{name}.json").decode("utf-8"))
    return 0


def _names() -> tuple[str, ...]:
    """`policy`, `findings`, and the schemas of API kinds by folder: `kubernetes/apps`."""
    folders = sorted(
        n for n in os.listdir(bundled.path("schemas")) if os.path.isdir(bundled.path("schemas", n))
    )
    shapes = [
        f"{folder}/{name}" for folder in folders for name in bundled.names("schemas", folder, suffix=".json")
    ]
    return ("policy", "findings", *shapes)
