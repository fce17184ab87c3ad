"""`policykit completion`: scripts for shells, and what they complete."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from policykit import bundled
from policykit.cli.output import write_output

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print a completion script for a shell.

    \b
    bash:  eval "$(policykit completion bash)"    in ~/.bashrc
    zsh:   eval "$(policykit completion zsh)"     in ~/.zshrc
    fish:  policykit completion fish > ~/.config/fish/completions/policykit.fish
    """
    found = get_completion_class(shell)
    assert found is not None, "click has all of these"
    whole = found(context.find_root().command, {}, "policykit", "_POLICYKIT_COMPLETE")
    # The method of the class for bash runs bash to look at its version.
    write_output(ShellComplete.source(whole))
    return 0


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules that begin so."""
    from policykit.rules import CATALOGUE

    words = [(each.code, each.name) for each in CATALOGUE]
    words += [(each.name, each.code) for each in CATALOGUE]
    return [CompletionItem(word, help=said) for word, said in words if word.startswith(incomplete)]


def profile_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Bundled profiles that begin so."""
    names = bundled.names("profiles", suffix=".yaml")
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
