"""`policykit init`: creates a commented policy from a bundled profile."""

from __future__ import annotations

import os

import click

from policykit.cli.output import say, write_file
from policykit.cli.profiles import profile_text
from policykit.errors import UsageError
from policykit.workspace.policies import FILE_NAME


@click.command("init")
@click.option("--profile", default="hybrid-volcano", show_default=True, help="Bundled profile to start from.")
@click.argument("folder", default=".", metavar="[DIR]")
def command(profile: str, folder: str) -> int:
    """Write a commented policykit.yaml; an existing one is never overwritten."""
    path = os.path.join(folder, FILE_NAME)
    if os.path.lexists(path):
        raise UsageError("the folder already has a policy", "edit it, or choose another folder", path)
    write_file(path, profile_text(profile))
    say(f"wrote {path}; describe your pools in it, then run: policykit lint, policykit gen")
    return 0
