"""Options that several commands share, and the cache and the policy that they select."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from policykit.cli import click
from policykit.cli.output import print_error, print_message
from policykit.errors import UsageError
from policykit.workspace import filesystem, safe_paths
from policykit.workspace.cache.folder import NO_CACHE, VARIABLE, Cache, default_folder, enclosing, fault_of
from policykit.workspace.command_state import cached
from policykit.workspace.policies import compiled_policy, nearest_policy

if TYPE_CHECKING:
    from policykit.live.connection import Access
    from policykit.model.cluster import Cluster

Command = TypeVar("Command", bound=Callable[..., Any])


def _allow(_: object, __: object, folders: tuple[str, ...]) -> None:
    safe_paths.begin(folders)
    for folder in folders:
        filesystem.exists(folder)  # click has made sure of it


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
    help="Policy file, or profile:NAME; repeatable. One that states what it applies to judges"
    " only those of the paths. Default: all policies of the repository, each for what it applies to.",
)

namespace_option = click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    default="",
    help="Namespace of objects that name none. Default: the one their kustomization sets, else default."
    " With --live: the namespace to read; default: that of the context.",
)

helm_option = click.option(
    "--helm",
    type=click.Choice(("auto", "never")),
    default="auto",
    show_default=True,
    help="auto: check charts of the repository as helm renders them, where they are used and helm is on PATH;"
    " never: do not run helm.",
)

_LIMITS = (
    click.option(
        "--max-builds",
        type=click.IntRange(min=0),
        default=10_000,
        show_default=True,
        metavar="NUMBER",
        help="Maximum of kustomizations and charts to build, each once per policy; others are not judged.",
    ),
    click.option(
        "--max-units",
        type=click.IntRange(min=0),
        default=200_000,
        show_default=True,
        metavar="NUMBER",
        help="Maximum of files of several policies to judge as they are written, each once per policy.",
    ),
    click.option(
        "--build-seconds",
        type=click.FloatRange(min=0),
        default=600,
        show_default=True,
        metavar="SECONDS",
        help="Builds that have not begun after this time are not judged.",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What builds may take, and how many units there may be: `max_builds`, `max_units`, `build_seconds`."""
    return decorated(command, _LIMITS)


format_option = click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True
)


_CONNECTION = (
    click.option("--context", metavar="NAME", default="", help="Context of the kubeconfig."),
    click.option(
        "--kubeconfig",
        metavar="FILE",
        default="",
        help="Default: KUBECONFIG, else ~/.kube/config, else the service account of the pod.",
    ),
    click.option(
        "--request-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=30,
        show_default=True,
        metavar="SECONDS",
        help="Timeout of one request to the API server.",
    ),
)
_LIVE = click.option("--live", is_flag=True, help="Read a running cluster. Needs policykit-k8s[live].")
_NAMESPACE = click.option(
    "-n", "--namespace", metavar="NAME", default="", help="Default: that of the context."
)
_ALL_NAMESPACES = click.option("-A", "--all-namespaces", is_flag=True, help="Read all namespaces.")


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """For commands that always read a cluster: they get the options as `access`."""

    @wraps(command)
    def run(*, namespace: str, all_namespaces: bool, **options: Any) -> Any:
        access = _access(options, namespace, all_namespaces)
        return command(**options, access=access)

    return decorated(run, (_NAMESPACE, _ALL_NAMESPACES, *_CONNECTION))


def live_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """For commands that read a cluster with `--live`: `access` is None without it. They have
    `namespace_option` too."""

    @wraps(command)
    def run(*, live: bool, all_namespaces: bool, **options: Any) -> Any:
        if all_namespaces and not live:
            raise UsageError("--all-namespaces works only with --live", "omit it, or add --live")
        access = _access_if(live, options, options["namespace"], all_namespaces)
        return command(**options, access=access)

    return decorated(run, (_LIVE, _ALL_NAMESPACES, *_CONNECTION))


def whole_cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for commands that read every namespace."""

    @wraps(command)
    def run(*, live: bool, **options: Any) -> Any:
        access = _access_if(live, options, "", True)
        return command(**options, access=access)

    return decorated(run, (_LIVE, *_CONNECTION))


def decorated(command: Callable[..., Any], options: Iterable[Callable[..., Any]]) -> Callable[..., Any]:
    """The command with these options, in this order."""
    for option in reversed([*options]):
        command = option(command)
    return command


def _access_if(live: bool, options: dict[str, Any], namespace: str, every: bool) -> Access | None:
    if live:
        return _access(options, namespace, every)
    if any([options.pop("context"), options.pop("kubeconfig")]):
        raise UsageError("--context and --kubeconfig work only with --live", "omit them, or add --live")
    options.pop("request_timeout")
    return None


def _access(options: dict[str, Any], namespace: str, every: bool) -> Access:
    """Takes the options of the connection out of those of a command."""
    from policykit.live.connection import Access

    if namespace and every:
        raise UsageError("--namespace and --all-namespaces cannot be combined", "use only one of them")
    context, kubeconfig = options.pop("context"), options.pop("kubeconfig")
    return Access(context, kubeconfig, namespace, every, options.pop("request_timeout"))


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


@cached
def cluster_from(reference: str, cache: Cache) -> Cluster:
    """The compiled policy of a file or `profile:NAME`. Raises PolicyError and SourceError."""
    found = compiled_policy(reference, cache)
    for notice in found.notices:
        print_error(notice)
    return found.cluster


def cluster_for(folder: str, reference: str | None, cache: Cache) -> Cluster | None:
    """The policy that applies to a folder; None if there is none."""
    chosen = reference or nearest_policy(folder)
    return cluster_from(chosen, cache) if chosen else None
