"""`policykit completion`: scripts for shells, and the values that they complete."""

from __future__ import annotations

from policykit import bundled
from policykit.cli import click
from policykit.cli.output import write_output

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print a completion script for a shell.

    \b
    bash:  eval "$(policykit completion bash)"    in ~/.bashrc
    zsh:   eval "$(policykit completion zsh)"     in ~/.zshrc
    fish:  policykit completion fish > ~/.config/fish/completions/policykit.fish
    """
    from click import Command
    from click.shell_completion import ShellComplete, get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click has all of these"
    whole = found(Command("policykit"), {}, "policykit", "_POLICYKIT_COMPLETE")
    # The method of the class for bash runs bash to look at its version.
    write_output(ShellComplete.source(whole))
    return 0


def rule_names(context: object, parameter: object, incomplete: str) -> list[str]:
    """Codes and names of rules that begin so."""
    from policykit.rules import CATALOGUE

    words = (*(each.code for each in CATALOGUE), *(each.name for each in CATALOGUE))
    return [word for word in words if word.startswith(incomplete)]


def profile_names(context: object, parameter: object, incomplete: str) -> list[str]:
    """Bundled profiles that begin so."""
    return [name for name in bundled.names("profiles", suffix=".yaml") if name.startswith(incomplete)]
