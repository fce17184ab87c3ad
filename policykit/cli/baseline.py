"""`policykit baseline`: records today's findings in a file that later runs of `lint` accept."""

from __future__ import annotations

import os
from collections.abc import Iterable

from policykit import api
from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    helm_option,
    limit_options,
    policies_option,
)
from policykit.cli.output import print_error, print_message, write_output
from policykit.cli.reports import about_builds
from policykit.errors import UsageError
from policykit.formats.findings import counted
from policykit.linter.baseline import Baseline, BaselineFile, extended_baseline, pruned_baseline, text_of
from policykit.linter.baseline_pass import clusters_of, common_codes, from_folder, settings_of, tally
from policykit.linter.input_file import STDIN
from policykit.linter.unit import UnitFinding
from policykit.linter.workspace import Options, Workspace
from policykit.workspace.files import shown_path
from policykit.workspace.linting.loader import (
    OpenResult,
    default_place,
    load,
    nearest_baselines,
    open_workspace,
    uncovered,
)
from policykit.workspace.linting.request import Request, today


@click.command("baseline")
@click.argument("paths", nargs=-1)
@policies_option
@allow_path
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="",
    help="Path of the baseline file. Default: the nearest .policykit-baseline.json in this or a parent"
    " folder, else one at the repository root, else one in the current folder.",
)
@click.option(
    "--prune",
    is_flag=True,
    help="Only remove findings that no longer exist; requires a run over everything the baseline covers.",
)
@click.option(
    "--kustomize",
    type=click.Choice(("auto", "never")),
    default="auto",
    show_default=True,
    help="Same as for `lint`: check kustomizations as kustomize builds them, or (never) only their files.",
)
@helm_option
@limit_options
@cache_options
def command(
    paths: tuple[str, ...],
    policies: tuple[str, ...],
    output: str,
    prune: bool,
    kustomize: str,
    helm: str,
    max_builds: int,
    max_units: int,
    build_seconds: float,
    cache_dir: str | None,
    no_cache: bool,
) -> int:
    """Record today's findings in a file, so that `lint` reports only findings that are not in it.

    Commit the file. It identifies findings by rule, object and field, never by line, and by file
    only where there is no named object: manifests can be renamed, moved and reordered. A second
    run adds new findings and keeps the rest; --prune removes those that no longer exist and adds
    nothing.
    """
    if STDIN in paths:
        raise UsageError("a baseline cannot cover standard input", "name files or folders")
    place = os.path.abspath(output) if output else default_place(_folder(paths))
    old = load(place) if os.path.lexists(place) else None
    if prune:
        old = _existing(old, place)
        paths = paths or _covered(old)
        _require_all(old, paths)
    paths = paths or (".",)
    cache = cache_of((*paths, *policies), cache_dir, no_cache)
    request = Request(
        paths,
        policies,
        kustomize=kustomize == "auto",
        no_baseline=True,
        cache=cache,
        helm=helm == "auto",
        max_builds=max_builds,
        max_units=max_units,
        build_seconds=build_seconds,
    )
    opened = open_workspace(request)
    findings = _all_findings(opened)
    if findings is None:
        return 2
    before = old.baseline if old else Baseline()
    locate = from_folder(os.path.dirname(place))
    some = findings if output else _findings_for(findings, place)
    clusters = clusters_of(opened.workspace)
    found, general = tally(some, clusters, locate)
    if prune:
        after = pruned_baseline(before, found, _checked_rules(opened.workspace), general, clusters)
    else:
        after = extended_baseline(before, found, map(locate, paths), general)
    if old is None or text_of(after) != old.text:
        write_output(text_of(after), place)
    _print_changes(before, after, shown_path(place))
    return 0


def _folder(paths: tuple[str, ...]) -> str:
    first = os.path.abspath(paths[0]) if paths else os.getcwd()
    return first if os.path.isdir(first) else os.path.dirname(first)


def _existing(old: BaselineFile | None, place: str) -> BaselineFile:
    if old is None:
        raise UsageError(
            "there is no baseline to prune", "create one with `policykit baseline`", shown_path(place)
        )
    return old


def _covered(old: BaselineFile) -> tuple[str, ...]:
    """The files and folders that a baseline covers and that still exist."""
    places = (os.path.normpath(os.path.join(old.folder, path)) for path in old.baseline.covers)
    return tuple(shown_path(place) for place in places if os.path.lexists(place))


def _require_all(old: BaselineFile, paths: tuple[str, ...]) -> None:
    missing = [shown_path(place) for place in uncovered(old, paths)]
    if missing:
        raise UsageError(
            f"this run leaves out paths that the baseline covers: {', '.join(missing)}",
            "run it without paths to check everything",
            shown_path(old.path),
        )


def _checked_rules(workspace: Workspace) -> frozenset[str]:
    return common_codes(settings_of(workspace, (input_file.path for input_file in workspace.input_files)))


def _all_findings(opened: OpenResult) -> tuple[UnitFinding, ...] | None:
    """All findings of the files; None, after printing the reasons, if some could not be checked."""
    workspace, notes = opened
    found, report, _ = api.unit_findings(workspace, Options(today=today()))
    for line in about_builds(workspace, notes, every=False):
        print_message(line)
    failures = (*notes.failures, *report.failures)
    for failure in (*notes.policy_notices, *failures):
        print_error(failure)
    if failures:
        print_message("policykit: no baseline written: not everything could be checked")
        return None
    return found


def _findings_for(findings: Iterable[UnitFinding], place: str) -> list[UnitFinding]:
    """The findings that `lint` would look up in the baseline at `place`, not in a nearer one."""
    found = list(findings)
    nearest = nearest_baselines(one.finding.path for one in found)
    return [one for one in found if nearest.get(one.finding.path, place) == place]


def _print_changes(before: Baseline, after: Baseline, place: str) -> None:
    old, new = before.accepted, after.accepted
    came = sum(max(0, amount - old.get(key, 0)) for key, amount in new.items())
    went = sum(max(0, amount - new.get(key, 0)) for key, amount in old.items())
    changes = f"{came} new, {went} removed" if came or went else "no changes"
    print_message(f"policykit: {place} accepts {counted(sum(new.values()), 'finding')} ({changes})")
