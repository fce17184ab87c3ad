"""`policykit lint`: findings on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import click

from policykit import api
from policykit.cli.output import emit
from policykit.cli.policy import cluster_for
from policykit.errors import PolicykitError
from policykit.formats import FORMATS, format_named
from policykit.formats.text import summary
from policykit.linter.finding import Report
from policykit.linter.run import Member, Setting
from policykit.model.cluster import Cluster
from policykit.model.severity import Severity
from policykit.sources.files import File, discover, excluded, read, walk
from policykit.sources.policies import nearest_policy
from policykit.sources.scopes import is_patch, scope_root
from policykit.sources.settings import pyproject_settings

_STDIN = "-"


class _Gathered:
    """Members and settings of a run, as files are looked at; failures are kept, not raised."""

    def __init__(
        self, policy: str | None, select: Sequence[str], ignore: Sequence[str], namespace: str
    ) -> None:
        self.policy = policy
        self.select = select
        self.ignore = ignore
        self.namespace = namespace
        self.members: list[Member] = []
        self.sizes: list[int] = []
        self.settings: list[Setting] = []
        self.failures: list[str] = []
        self.without_policy = 0
        self._known: dict[str, int] = {}
        self._folders: dict[str, tuple[int, str]] = {}

    def add(self, file: File, opened: str, scope: str | None = None) -> None:
        folder = os.path.dirname(os.path.abspath(file.path))
        setting, policy_folder = self._governing(folder)
        if scope is None:
            scope = scope_root(file.path, file.argument, "" if self.policy else policy_folder)
        self.without_policy += self.settings[setting].cluster is None
        self.members.append(Member(file.path, opened, scope, setting, is_patch(file.path)))
        self.sizes.append(os.path.getsize(opened) if os.path.isfile(opened) else 0)

    def _governing(self, folder: str) -> tuple[int, str]:
        if folder not in self._folders:
            reference = self.policy or nearest_policy(folder)
            policy_folder = os.path.dirname(reference) if reference and not self.policy else ""
            self._folders[folder] = (self._setting(folder, reference), policy_folder)
        return self._folders[folder]

    def _setting(self, folder: str, reference: str) -> int:
        if reference not in self._known:
            cluster = self._cluster(folder, reference)
            lint = None if cluster else pyproject_settings(folder)
            self.settings.append(api.setting(cluster, lint, self.select, self.ignore, self.namespace))
            self._known[reference] = len(self.settings) - 1
        return self._known[reference]

    def _cluster(self, folder: str, reference: str) -> Cluster | None:
        try:
            return cluster_for(folder, reference) if reference else None
        except PolicykitError as error:
            self.failures.append(str(error))
            return None


@click.command("lint")
@click.argument("paths", nargs=-1)
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml upwards.",
)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--output", metavar="FILE", default="", help="Write findings to FILE instead of standard output."
)
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    help="Only these codes, names or families, separated by commas.",
)
@click.option("--ignore", multiple=True, metavar="RULES", help="Never these.")
@click.option(
    "--fail-on",
    type=click.Choice([s.value for s in Severity]),
    default="warning",
    show_default=True,
    help="Gravity from which findings fail the run; info never does.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even when named outright.")
@click.option(
    "--stdin-filename",
    metavar="PATH",
    default="",
    help="Name of standard input in findings, and where its policy is looked for.",
)
@click.option(
    "--namespace", default="default", show_default=True, help="Where objects without a namespace stand."
)
@click.option("--require-policy", is_flag=True, help="Fail where a file has no policy.")
@click.option("--show-files", is_flag=True, help="Say on stderr which files were passed over, and why.")
@click.option(
    "--jobs", type=click.IntRange(min=0), default=0, help="Worker processes. Default: as many as pay."
)
def command(
    paths: tuple[str, ...],
    policy: str | None,
    format_: str,
    output: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    exit_zero: bool,
    force_exclude: bool,
    stdin_filename: str,
    namespace: str,
    require_policy: bool,
    show_files: bool,
    jobs: int,
) -> int:
    """Find scheduling mistakes in manifests: files, folders, or - for standard input."""
    gathered = _Gathered(policy, _words(select), _words(ignore), namespace)
    _gather(gathered, paths or (".",), force_exclude, stdin_filename)
    report = api.lint(
        gathered.members,
        gathered.settings,
        _read,
        lambda scope: _surroundings(scope, gathered),
        gathered.sizes,
        jobs,
    )
    emit(format_named(format_)(report), output)
    _tell(report, gathered, show_files)
    if gathered.failures or report.failures or (require_policy and gathered.without_policy):
        return 2
    return 0 if exit_zero or not _fails(report, Severity(fail_on)) else 1


def _gather(gathered: _Gathered, paths: Sequence[str], force_exclude: bool, stdin_filename: str) -> None:
    if _STDIN in paths:
        gathered.add(File(stdin_filename or "<stdin>", ""), _STDIN, scope="")
    named = [path for path in paths if path != _STDIN]
    present = [path for path in named if os.path.lexists(path)]
    gathered.failures += [f"{path}: no such file or folder" for path in named if path not in present]
    for file in discover(present):
        if _excluded(gathered, file, force_exclude):
            continue
        gathered.add(file, file.path)
    if not gathered.members and not gathered.failures:
        click.echo("policykit: no manifest files there", err=True)


def _excluded(gathered: _Gathered, file: File, force_exclude: bool) -> bool:
    """Whether the settings that govern a file leave it out."""
    if not file.argument and not force_exclude:
        return False
    setting, _ = gathered._governing(os.path.dirname(os.path.abspath(file.path)))
    cluster = gathered.settings[setting].cluster
    return cluster is not None and excluded(file.path, cluster.lint.exclude)


def _surroundings(scope: str, gathered: _Gathered) -> Iterable[Member]:
    """Every manifest file of a scope; those of the run under the paths they were given by."""
    members = [m for m in gathered.members if m.scope == scope]
    known = {os.path.abspath(m.file): m for m in members}
    setting = members[0].setting
    for path in walk(scope):
        absolute = os.path.abspath(path)
        yield known.get(absolute) or Member(path, path, scope, setting, is_patch(path))


def _read(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == _STDIN else read(path)


def _words(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in option.replace(",", " ").split()]


def _fails(report: Report, fail_on: Severity) -> bool:
    worst = report.worst()
    return worst is not None and worst is not Severity.INFO and worst.rank <= fail_on.rank


def _tell(report: Report, gathered: _Gathered, show_files: bool) -> None:
    for failure in (*gathered.failures, *report.failures):
        click.echo(f"policykit: {failure}", err=True)
    if show_files:
        for path, why in report.skipped:
            click.echo(f"skipped {path}: {why}", err=True)
    if gathered.without_policy and report.silent_rules:
        files = "file has" if gathered.without_policy == 1 else "files have"
        click.echo(
            f"policykit: {gathered.without_policy} {files} no policy: {report.silent_rules} rules stayed silent"
            " (give one with -p, or see `policykit init`)",
            err=True,
        )
    click.echo(summary(report), err=True)
