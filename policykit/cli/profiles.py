"""`policykit profiles [NAME]`: bundled policies to start from."""

from __future__ import annotations

import click

from policykit import bundled
from policykit.cli.output import emit
from policykit.errors import UsageError


@click.command("profiles")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the bundled profiles, or print one."""
    emit(profile_text(name) if name else _listing())
    return 0


def profile_text(name: str) -> str:
    """A bundled profile as it is written. Raises UsageError where there is none of that name."""
    known = names()
    if name not in known:
        raise UsageError(f"there is no profile {name!r}", f"bundled: {', '.join(known)}")
    return bundled.read("profiles", f"{name}.yaml").decode("utf-8")


def names() -> tuple[str, ...]:
    """The bundled profiles, sorted."""
    return bundled.names("profiles", suffix=".yaml")


def _listing() -> str:
    width = max(len(name) for name in names())
    lines = [f"{name:<{width}}  {_caption(name)}" for name in names()]
    return "\n".join(
        [*lines, "", "use one: policykit lint -p profile:NAME, or policykit init --profile NAME", ""]
    )


def _caption(name: str) -> str:
    """The first comment line of the file."""
    first = profile_text(name).split("\n", 1)[0]
    return first.lstrip("# ").strip()
