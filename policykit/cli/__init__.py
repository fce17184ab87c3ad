"""The command line: a table of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from policykit import __version__
from policykit.cli.output import print_error, print_escaped, print_message
from policykit.errors import InternalError, PolicykitError, SourceError, UsageError
from policykit.lazy import Lazy
from policykit.nearest import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Entry(NamedTuple):
    """A command and its line in the help."""

    command: Lazy[click.Command]
    caption: str


COMMANDS = {
    "init": _Entry(
        Lazy("policykit.cli.bundled:init"), "create a commented policykit.yaml from a bundled profile"
    ),
    "gen": _Entry(Lazy("policykit.cli.gen:command"), "generate scheduler configuration from the policy"),
    "lint": _Entry(Lazy("policykit.cli.lint:command"), "find scheduling mistakes in manifests"),
    "baseline": _Entry(
        Lazy("policykit.cli.baseline:command"), "record findings so that lint reports only new ones"
    ),
    "patch": _Entry(Lazy("policykit.cli.patch:command"), "apply workload kinds to manifests"),
    "where": _Entry(
        Lazy("policykit.cli.where:command"), "show which pools pods can run in, and why others refuse them"
    ),
    "clusters": _Entry(
        Lazy("policykit.cli.clusters:command"), "list policies, what they apply to, and what none judges"
    ),
    "explain": _Entry(Lazy("policykit.cli.rules:explain"), "show a rule's documentation"),
    "import": _Entry(
        Lazy("policykit.cli.import_:command"), "create a policy from existing nodes, queues, scheduler files"
    ),
    "nodes": _Entry(Lazy("policykit.cli.nodes:command"), "show how live nodes differ from the policy"),
    "rules": _Entry(Lazy("policykit.cli.rules:list_rules"), "list all rules"),
    "profiles": _Entry(Lazy("policykit.cli.bundled:profiles"), "list or print bundled policies"),
    "cards": _Entry(Lazy("policykit.cli.bundled:cards"), "list or describe accelerator cards"),
    "versions": _Entry(
        Lazy("policykit.cli.versions:command"), "list the releases that are known, and what differs"
    ),
    "schema": _Entry(Lazy("policykit.cli.bundled:schema"), "list or print bundled JSON Schemas"),
    "completion": _Entry(
        Lazy("policykit.cli.completion:command"), "print a completion script for bash, zsh or fish"
    ),
    "lsp": _Entry(
        Lazy("policykit.cli.lsp:command"), "run a language server for editors: findings, docs and fixes"
    ),
    "krm": _Entry(
        Lazy("policykit.cli.krm:command"), "run as a KRM function in kustomize: generate, patch or lint"
    ),
}


class _Commands(click.Group):
    """Imports a command's module only when the command runs, to keep help and start-up fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        return entry.command.load() if entry else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.caption) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=entry.caption)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], tuple(COMMANDS))
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
def commands(verbose: bool) -> None:
    """One policy file for AI clusters on Kubernetes: generate scheduler configuration and lint manifests."""
    if verbose:
        raise UsageError("--verbose works only with --version", "run policykit --version --verbose")


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns its exit code.

    0: clean; 1: findings or drift; 2: the run failed; 130: interrupted.
    """
    try:
        _refuse_file_as_option(arguments)
        code = commands.main(list(arguments), prog_name="policykit", standalone_mode=False)
        if sys.stdout and not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        _show(error)
        return 2
    except click.exceptions.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except PolicykitError as error:
        print_error(error)
        return 2
    except BrokenPipeError:
        # The reader of our output has closed the pipe: exit quietly.
        _drop_output()
        return 1
    except OSError as error:
        print_error(SourceError(error.strerror or str(error), place=str(error.filename or "standard output")))
        _drop_output()
        return 2
    except Exception as error:
        # A bug in policykit: one line, with a traceback only on request.
        print_error(InternalError(error))
        return 2


def _refuse_file_as_option(arguments: Sequence[str]) -> None:
    """Raises UsageError for an option that is also the name of a file.

    Hooks and globs pass file names that others may have chosen, such as `--output=a.yaml`.
    """
    for word in arguments:
        if word == "--":
            return
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            hint = "put ./ before the file name, or -- before all files"
            raise UsageError(f"{word!r} is both an option and the name of a file", hint)


def _show(error: click.ClickException) -> None:
    """Prints the usage, then the error in one line, with what it quotes escaped."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # its message is the help
        return
    if isinstance(error, click.UsageError) and error.ctx:
        print_escaped(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n")
    print_message(f"Error: {error.format_message()}")


def _drop_output() -> None:
    """Keeps the interpreter from writing the rest again, and failing again, when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
