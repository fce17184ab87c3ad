"""The command line: a table of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from policykit.cli.click import Command
from policykit.cli.output import print_error
from policykit.errors import PolicykitError, SourceError, UsageError
from policykit.lazy import Lazy
from policykit.namedtuple import NamedTuple
from policykit.workspace import filesystem

_COMPLETING = "_POLICYKIT_COMPLETE"
"""Set by the shell when click completes a command line."""
_UNRECORDED = frozenset({"--no-cache"})
"""Options of `lint` whose runs are not repeated from the cache."""


class _Entry(NamedTuple):
    """A command and its line in the help."""

    command: Lazy[Command]
    caption: str
    task: str
    """The heading above it in the help."""


COMMANDS = {
    "init": _Entry(
        Lazy("policykit.cli.profiles:init"),
        "create a commented policykit.yaml from a bundled profile",
        "Start",
    ),
    "import": _Entry(
        Lazy("policykit.cli.import_:command"),
        "create a policy from existing nodes, queues, scheduler files",
        "Start",
    ),
    "completion": _Entry(
        Lazy("policykit.cli.completion:command"), "print a completion script for bash, zsh or fish", "Start"
    ),
    "gen": _Entry(
        Lazy("policykit.cli.gen:command"), "generate scheduler configuration from the policy", "Generate"
    ),
    "krm": _Entry(
        Lazy("policykit.cli.krm:command"),
        "run as a KRM function in kustomize: generate, patch or lint",
        "Generate",
    ),
    "lint": _Entry(Lazy("policykit.cli.lint:command"), "find scheduling mistakes in manifests", "Check"),
    "where": _Entry(
        Lazy("policykit.cli.where:command"),
        "show which pools pods can run in, and why others refuse them",
        "Check",
    ),
    "baseline": _Entry(
        Lazy("policykit.cli.baseline:command"), "record findings so that lint reports only new ones", "Check"
    ),
    "clusters": _Entry(
        Lazy("policykit.cli.clusters:command"),
        "list policies, what they apply to, and unjudged files",
        "Check",
    ),
    "lsp": _Entry(
        Lazy("policykit.cli.lsp:command"),
        "run a language server for editors: findings, docs and fixes",
        "Check",
    ),
    "patch": _Entry(Lazy("policykit.cli.patch:command"), "apply workload kinds to manifests", "Change"),
    "plan": _Entry(
        Lazy("policykit.cli.plan:command"), "show what a policy change does, and safe steps for it", "Change"
    ),
    "migrate": _Entry(
        Lazy("policykit.cli.migrate:command"), "add to a policy what older versions let it omit", "Change"
    ),
    "audit": _Entry(
        Lazy("policykit.cli.audit:command"),
        "check a running cluster: nodes, workloads, what was generated",
        "Cluster",
    ),
    "why": _Entry(
        Lazy("policykit.cli.why:command"), "explain why pods of a running cluster are pending", "Cluster"
    ),
    "nodes": _Entry(
        Lazy("policykit.cli.nodes:command"), "show how live nodes differ from the policy", "Cluster"
    ),
    "explain": _Entry(Lazy("policykit.cli.rules:explain"), "show a rule's documentation", "Look up"),
    "rules": _Entry(Lazy("policykit.cli.rules:list_rules"), "list all rules", "Look up"),
    "profiles": _Entry(Lazy("policykit.cli.profiles:profiles"), "list or print bundled policies", "Look up"),
    "cards": _Entry(Lazy("policykit.cli.listings:cards"), "list or describe accelerator cards", "Look up"),
    "versions": _Entry(
        Lazy("policykit.cli.listings:versions"), "list known releases, and how they differ", "Look up"
    ),
    "schema": _Entry(Lazy("policykit.cli.listings:schema"), "list or print bundled JSON Schemas", "Look up"),
}
"""In the order of the help, which lists them by task."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns its exit code.

    0: clean; 1: findings or drift; 2: the run failed; 130: interrupted.
    """
    is_recorded = bool(arguments) and arguments[0] == "lint" and _UNRECORDED.isdisjoint(arguments)
    record = filesystem.open_record() if is_recorded else None
    try:
        _refuse_file_as_option(arguments)
        result = _run(arguments)
        if sys.stdout and not sys.stdout.closed:  # the language server closes it
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return code_of(error)
    finally:
        filesystem.close_record()
    code = result if isinstance(result, int) else 0
    if record and record.cache:
        from policykit.workspace.cache.runs import store

        store(arguments, record, code)
    return code


def code_of(error: Exception) -> int:
    """The exit code of a command that failed; prints why."""
    if isinstance(error, PolicykitError):
        print_error(error)
        return 2
    if isinstance(error, BrokenPipeError):
        # The reader of our output has closed the pipe: exit quietly.
        _drop_output()
        return 1
    if isinstance(error, OSError):
        print_error(SourceError(error.strerror or str(error), place=str(error.filename or "standard output")))
        _drop_output()
        return 2
    from policykit.cli.group import code_of_other

    return code_of_other(error)


def _run(arguments: Sequence[str]) -> object:
    """Runs one command line, with click only if it is not plain; returns what the command returns."""
    entry = COMMANDS.get(arguments[0]) if arguments else None
    if entry and _COMPLETING not in os.environ:
        command = entry.command.load()
        values = command.parsed(arguments[1:])
        if values is not None:
            return command.function(**values)
    from policykit.cli.group import run_with_click

    return run_with_click(COMMANDS, arguments)


def _refuse_file_as_option(arguments: Sequence[str]) -> None:
    """Raises UsageError for an option that is also the name of a file.

    Hooks and globs pass file names that others may have chosen, such as `--output=a.yaml`.
    """
    for word in arguments:
        if word == "--":
            return
        if word.startswith("-") and word != "-" and filesystem.lexists(word):
            hint = "put ./ before the file name, or -- before all files"
            raise UsageError(f"{word!r} is both an option and the name of a file", hint)


def _drop_output() -> None:
    """Keeps the interpreter from writing the rest again, and failing again, when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
