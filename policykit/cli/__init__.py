"""The commands: a table from name to module; one module per command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

import click

from policykit import __version__
from policykit.cli.output import complain, say, tell
from policykit.errors import InternalError, PolicykitError, SourceError, UsageError
from policykit.nearest import nearest

COMMANDS = {
    "init": "a commented policykit.yaml from a bundled profile",
    "gen": "write the policy's objects",
    "lint": "find scheduling mistakes in manifests",
    "baseline": "accept today's findings, so that lint reports new ones only",
    "patch": "print manifests with each workload as its kind asks",
    "where": "say where each pod can land, and why not elsewhere",
    "explain": "a rule's page",
    "import": "a policy from existing nodes, queues, scheduler configurations",
    "nodes": "what live nodes have otherwise than the policy",
    "rules": "all rules",
    "profiles": "bundled policies to start from",
    "cards": "the catalogue of accelerator cards",
    "schema": "bundled JSON Schemas",
    "lsp": "as a language server: findings, rule pages and fixes in an editor",
    "krm": "as a function of kustomize: generator, transformer or validator",
}
"""Each lives in the module of its name (`import_`: a keyword names no module) and calls its click command
`command`."""


class _Commands(click.Group):
    """Imports a command's module only when it runs, so that help and start-up stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = import_module(f"policykit.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], tuple(COMMANDS))
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    """`--verbose` is eager, so it is known by now."""
    if not asked:
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
    "--verbose", is_flag=True, is_eager=True, help="With --version: which installation this is, too."
)
def commands(verbose: bool) -> None:
    """One policy file for AI clusters on Kubernetes: generate the schedulers' configuration,
    lint the manifests."""
    if verbose:
        raise UsageError("--verbose goes with --version only", "write policykit --version --verbose")


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code of contract 4."""
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
        complain(error)
        return 2
    except BrokenPipeError:
        # The reader of our output left: end quietly.
        _drop_output()
        return 1
    except OSError as error:
        complain(SourceError(error.strerror or str(error), place=str(error.filename or "standard output")))
        _drop_output()
        return 2
    except Exception as error:
        # A fault of ours: told in one line, unless somebody wants to look for it.
        complain(InternalError(error))
        return 2


def _refuse_file_as_option(arguments: Sequence[str]) -> None:
    """Hooks and globs pass on file names that others may have chosen: --output=a.yaml is such a name."""
    for word in arguments:
        if word == "--":
            return
        if word.startswith("-") and word != "-" and os.path.lexists(word):
            hint = "write ./ before the name of the file, or -- before all files"
            raise UsageError(f"{word!r} is an option and the name of a file", hint)


def _show(error: click.ClickException) -> None:
    """How the command is used, then what is wrong in one line, whatever it quotes of the command line."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # its message is the help
        return
    if isinstance(error, click.UsageError) and error.ctx:
        tell(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n")
    say(f"Error: {error.format_message()}")


def _drop_output() -> None:
    """What could not be written must not be tried again, with a complaint, when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
