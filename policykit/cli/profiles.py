"""`policykit profiles [NAME]`: lists or prints bundled policies."""

from __future__ import annotations

import click

from policykit import bundled
from policykit.cli.output import emit
from policykit.errors import UsageError


@click.command("profiles")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the bundled policies, or print one."""
    emit(profile_text(name) if name else _listing())
    return 0


def profile_text(name: str) -> str:
    """The text of a bundled profile. Raises UsageError if there is none of that name."""
    known = names()
    if name not in known:
        raise UsageError(f"unknown profile {name!r}", f"bundled profiles: {', '.join(known)}")
    return bundled.read("profiles", f"{name}.yaml").decode("utf-8")


def names() -> tuple[str, ...]:
    """Names of the bundled profiles, sorted."""
    return bundled.names("profiles", suffix=".yaml")


def _listing() -> str:
    width = max(len(name) for name in names())
    lines = [f"{name:<{width}}  {_caption(name)}" for name in names()]
    return "\n".join(
        [*lines, "", "to use one: policykit lint -p profile:NAME, or policykit init --profile NAME", ""]
    )


def _caption(name: str) -> str:
    """The first comment line of the file."""
    first = profile_text(name).split("\n", 1)[0]
    return first.lstrip("# ").strip()
