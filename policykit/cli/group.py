"""The command line as click reads it: help, mistakes, and whatever is not plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from policykit import __version__
from policykit.cli.click import Command
from policykit.cli.output import print_error, print_escaped, print_message
from policykit.errors import InternalError, UsageError
from policykit.lazy import Lazy
from policykit.nearest import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Table = Mapping[str, tuple[Lazy[Command], str, str]]
"""Commands, their lines in the help and the tasks they are for, by name."""


class _Commands(click.Group):
    """Imports a command's module only when the command runs, to keep help and start-up fast."""

    table: Table = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.table[cmd_name][0].load().made() if cmd_name in self.table else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.table))
        for task, commands in groupby(self.table.items(), lambda item: item[1][2]):
            with formatter.section(task):
                formatter.write_dl([(name.ljust(width), caption) for name, (_, caption, _) in commands])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        items = [CompletionItem(name, help=caption) for name, (_, caption, _) in self.table.items()]
        found = [item for item in items if item.value.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.table and not args[0].startswith("-"):
            near = nearest(args[0], tuple(self.table))
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"unknown command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, option: click.Parameter, requested: bool) -> None:
    """Prints the version. `--verbose` is eager, so it has been parsed by now."""
    if not requested:
        return
    if ctx.params.get("verbose"):
        from policykit.cli.version import described, here

        click.echo(described(here()), nl=False)
    else:
        click.echo(f"policykit {__version__}")
    ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 findings or drift, 2 the run failed, 130 interrupted.",
)
@click.option("--version", is_flag=True, callback=_version, expose_value=False, help="Show the version.")
@click.option(
    "--verbose", is_flag=True, is_eager=True, help="With --version: also show where policykit is installed."
)
def _group(verbose: bool) -> None:
    """One policy file for AI clusters on Kubernetes: generate scheduler configuration and lint manifests."""
    if verbose:
        raise UsageError("--verbose works only with --version", "run policykit --version --verbose")


def run_with_click(table: Table, arguments: Sequence[str]) -> object:
    """Runs one command line; returns what the command returns."""
    _group.table = table
    return _group.main(list(arguments), prog_name="policykit", standalone_mode=False)


def code_of_other(error: Exception) -> int:
    """The exit code for a mistake in the command line, or a bug; prints it."""
    if isinstance(error, click.exceptions.Abort):
        return 130
    if isinstance(error, click.ClickException):
        _show(error)
    else:
        # A bug in policykit: one line, with a traceback only on request.
        print_error(InternalError(error))
    return 2


def _show(error: click.ClickException) -> None:
    """Prints the usage, then the error in one line, with what it quotes escaped."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # its message is the help
        return
    if isinstance(error, click.UsageError) and error.ctx:
        print_escaped(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n")
    print_message(f"Error: {error.format_message()}")
