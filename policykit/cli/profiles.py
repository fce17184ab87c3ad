"""Commands `init` and `profiles`: policies that ship with policykit."""

from __future__ import annotations

import os
import re

from policykit import bundled
from policykit.cli import click, completion
from policykit.cli.output import print_message, write_file, write_output
from policykit.errors import UsageError
from policykit.workspace.policies import FILE_NAME


@click.command("init")
@click.option(
    "--profile",
    default="hybrid-volcano",
    show_default=True,
    shell_complete=completion.profile_names,
    help="Bundled profile to start from.",
)
@click.argument("folder", default=".", metavar="[DIR]")
def init(profile: str, folder: str) -> int:
    """Write a commented policykit.yaml; an existing one is never overwritten."""
    path = os.path.join(folder, FILE_NAME)
    if os.path.lexists(path):
        raise UsageError("the folder already has a policy", "edit it, or choose another folder", path)
    write_file(path, _NAME.sub(_with_annotation, profile_text(profile), count=1))
    print_message(f"wrote {path} from profile {profile}; describe your pools in it, then run: policykit lint")
    others = [name for name in profile_names() if name != profile]
    width = max(map(len, others))
    print_message("other profiles to start from, with --profile NAME:")
    for name in others:
        print_message(f"  {name:<{width}}  {caption(name)}")
    return 0


_NAME = re.compile(r"^metadata:\n  name: .*\n", re.MULTILINE)


def _with_annotation(found: re.Match[str]) -> str:
    """The head of a policy that controllers and kustomize do not take for an object of the cluster."""
    return (
        f"{found.group()}  annotations:\n"
        "    # Not applied to the cluster, also where Flux applies every file of this folder.\n"
        '    config.kubernetes.io/local-config: "true"\n'
    )


@click.command("profiles")
@click.argument("name", required=False, shell_complete=completion.profile_names)
def profiles(name: str | None) -> int:
    """List the bundled policies, or print one."""
    write_output(profile_text(name) if name else _listing())
    return 0


def profile_text(name: str) -> str:
    """The text of a bundled profile. Raises UsageError if there is none of that name."""
    known = profile_names()
    if name not in known:
        raise UsageError(f"unknown profile {name!r}", f"bundled profiles: {', '.join(known)}")
    return bundled.read("profiles", f"{name}.yaml").decode("utf-8")


def profile_names() -> tuple[str, ...]:
    """Names of the bundled profiles, sorted."""
    return bundled.names("profiles", suffix=".yaml")


def _listing() -> str:
    width = max(len(name) for name in profile_names())
    lines = [f"{name:<{width}}  {caption(name)}" for name in profile_names()]
    return "\n".join(
        [*lines, "", "to use one: policykit lint -p profile:NAME, or policykit init --profile NAME", ""]
    )


def caption(name: str) -> str:
    """The first comment line of the file."""
    first = profile_text(name).split("\n", 1)[0]
    return first.lstrip("# ").strip()
