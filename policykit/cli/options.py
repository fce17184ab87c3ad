"""Options that several commands share, and the cache that they select."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from policykit.cli import click
from policykit.cli.output import print_message
from policykit.errors import UsageError
from policykit.workspace import boundary
from policykit.workspace.cache.folder import NO_CACHE, VARIABLE, Cache, default_folder, enclosing, fault_of

Command = TypeVar("Command", bound=Callable[..., Any])


def _allow(_: object, __: object, folders: tuple[str, ...]) -> None:
    boundary.begin(folders)


allow_path = click.option(
    "--allow-path",
    type=click.Path(exists=True),
    metavar="DIR",
    multiple=True,
    expose_value=False,
    callback=_allow,
    help="Also allow reading and writing files below DIR; repeatable. By default, files that a policy or a"
    " symbolic link points to must be inside the same repository, or without one inside the same folder.",
)
"""For every command that reads files named in a repository."""

policy_option = click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml in this or a parent folder.",
)

policies_option = click.option(
    "-p",
    "--policy",
    "policies",
    metavar="POLICY",
    multiple=True,
    help="Policy file, or profile:NAME; repeatable. One that says what it applies to judges only that of the"
    " paths. Default: the policies of the repository, each for what it applies to.",
)

namespace_option = click.option(
    "--namespace",
    metavar="NAME",
    default="",
    help="Namespace of objects that name none. Default: the one their kustomization sets, else default.",
)

helm_option = click.option(
    "--helm",
    type=click.Choice(("auto", "never")),
    default="auto",
    show_default=True,
    help="auto: check charts of the repository as helm renders them, where they are used and helm is on PATH;"
    " never: do not run helm.",
)

format_option = click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True
)


def cache_options(command: Command) -> Command:
    """Adds the options for the parameters `cache_dir` and `no_cache`."""
    command = click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")(command)
    return click.option(
        "--cache-dir",
        metavar="DIR",
        help="Cache folder; may be inside a repository, but anyone who can write to it can change what is"
        f" reported. Default: {VARIABLE}, else ~/.cache/policykit.",
    )(command)


def cache_of(paths: Iterable[str], cache_dir: str | None = None, no_cache: bool = False) -> Cache:
    """The cache of a run over these paths. A folder that cannot be trusted is reported and not used.

    Raises UsageError for options that exclude each other.
    """
    if no_cache and cache_dir is not None:
        raise UsageError("--cache-dir and --no-cache cannot be combined", "use only one of them")
    if cache_dir == "":
        raise UsageError("--cache-dir is empty", "name a folder, or use --no-cache")
    if no_cache:
        return NO_CACHE
    folder = os.path.realpath(cache_dir) if cache_dir else default_folder(os.environ)
    if not folder:
        return NO_CACHE
    checkout = "" if cache_dir else enclosing(folder, filter(_is_path, paths))
    fault = fault_of(folder)
    if checkout:
        print_message(
            f"policykit: cache disabled: {folder} is inside {checkout}, where anyone may have written to it;"
            f" set {VARIABLE} to a folder elsewhere, or pass this one with --cache-dir"
        )
    elif fault:
        print_message(f"policykit: cache disabled: {folder} {fault}")
    return NO_CACHE if checkout or fault else Cache(folder)


def _is_path(argument: str) -> bool:
    return argument not in ("", "-") and not argument.startswith("profile:")
