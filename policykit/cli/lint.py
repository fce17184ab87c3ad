"""`policykit lint`: prints findings on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policykit import api
from policykit.cli import click
from policykit.cli.options import (
    allow_path,
    cache_of,
    cache_options,
    helm_option,
    limit_options,
    live_options,
    namespace_option,
    policies_option,
)
from policykit.cli.output import print_error, print_message, write_data
from policykit.cli.reports import (
    ReportOptions,
    about_builds,
    about_not_judged,
    about_workload_kinds,
    assumed_releases,
    format_context,
    report_options,
    with_fixes,
    write,
)
from policykit.errors import SourceError, UsageError
from policykit.formats import text
from policykit.linter.baseline import ANY
from policykit.linter.finding import Report
from policykit.linter.input_file import STDIN
from policykit.linter.run import not_accepted
from policykit.linter.workspace import Options, Workspace
from policykit.model.severity import Applicability
from policykit.workspace.linting.incremental import lint
from policykit.workspace.linting.loader import OpenResult, open_workspace
from policykit.workspace.linting.request import Request, today
from policykit.workspace.policies import hint_without_policy

if TYPE_CHECKING:
    from policykit.cli.progress import ProgressLine
    from policykit.linter.fix_files import FixResult
    from policykit.live.connection import Access
    from policykit.workspace.linting.continued import ContinuedRun

_ACCEPT = "make it possible to judge, or accept the reason for this path: lint.acceptNotJudged in the policy"


@click.command("lint")
@click.argument("paths", nargs=-1)
@policies_option
@allow_path
@report_options
@click.option("--fix", is_flag=True, help="Apply safe fixes: those proven not to send pods to a wrong place.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply unsafe fixes too; implies --fix.")
@click.option("--diff", is_flag=True, help="Write nothing; print what --fix would change.")
@click.option(
    "--force-exclude", is_flag=True, help="Skip excluded files even if they are named on the command line."
)
@click.option(
    "--stdin-filename",
    metavar="PATH",
    default="",
    help="File name used for standard input: in findings and to find its policy.",
)
@namespace_option
@click.option(
    "--baseline",
    metavar="FILE",
    default="",
    help="Hide findings recorded in FILE. Default: the nearest .policykit-baseline.json above each file.",
)
@click.option("--no-baseline", is_flag=True, help="Ignore baselines and report all findings.")
@click.option(
    "--since",
    metavar="REV",
    help="Report only findings that a git revision did not have; REV... means since HEAD branched off REV.",
)
@click.option(
    "--hook",
    is_flag=True,
    help="For pre-commit hooks: report all findings in the named files, and in others only those that HEAD,"
    " or PRE_COMMIT_FROM_REF, did not have.",
)
@click.option(
    "--crd",
    "crds",
    multiple=True,
    metavar="PATH",
    help="File or folder with CustomResourceDefinitions to check objects of their kinds against.",
)
@click.option(
    "--kustomize",
    type=click.Choice(("auto", "never")),
    default="auto",
    show_default=True,
    help="auto: check kustomizations as kustomize builds them, if it is on PATH; never: only their files.",
)
@helm_option
@limit_options
@click.option("--require-policy", is_flag=True, help="Fail if a file has no policy.")
@click.option(
    "--require-judged",
    is_flag=True,
    help="Fail if anything is not judged, except what lint.acceptNotJudged of its policy lists.",
)
@click.option("--show-files", is_flag=True, help="Print skipped files and the reasons to stderr.")
@click.option("--timings", is_flag=True, help="Print time per rule to stderr.")
@live_options
@cache_options
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="NUMBER",
    help="Worker processes. Default: as many as are worthwhile.",
)
def command(
    paths: tuple[str, ...],
    policies: tuple[str, ...],
    reporting: ReportOptions,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    force_exclude: bool,
    stdin_filename: str,
    namespace: str,
    baseline: str,
    no_baseline: bool,
    since: str | None,
    hook: bool,
    crds: tuple[str, ...],
    kustomize: str,
    helm: str,
    max_builds: int,
    max_units: int,
    build_seconds: float,
    require_policy: bool,
    require_judged: bool,
    show_files: bool,
    timings: bool,
    cache_dir: str | None,
    no_cache: bool,
    jobs: int,
    access: Access | None,
) -> int:
    """Find scheduling mistakes in manifests: files, folders, or - for standard input.

    With --fix, standard input is written fixed to standard output, and findings go to standard
    error. With --diff, the diff goes to standard output and findings go to standard error.

    With --since, the files of that revision are linted too, with the policies, baselines and
    builds of that revision, and only findings that it did not have are reported: a changed policy or
    base is reported only where it changes a finding. A finding is the same one if its rule, object, field,
    cluster and cause are the same, whatever its file and line. Anything that was judged at the revision
    and no longer is gets listed. REV is resolved in the repository of the current folder; a submodule
    is compared with the commit recorded there. Standard input counts as new.

    POLICYKIT_TODAY=YYYY-MM-DD sets the date at which suppressions expire; default: today, in UTC.
    """
    if access is not None:
        _refuse_options_of_files(locals())
        if len(policies) > 1:
            raise UsageError("a cluster has one policy, but -p is repeated", "name one")
        from policykit.cli.live import lint_cluster

        return lint_cluster(access, "".join(policies), cache_of(policies, cache_dir, no_cache), reporting)
    if baseline and no_baseline:
        raise UsageError("--baseline and --no-baseline cannot be combined", "use only one of them")
    if hook and (since is not None or STDIN in paths):
        raise UsageError("--hook cannot be combined with --since or standard input", "name files and folders")
    cache = cache_of((*(paths or (".",)), *policies, stdin_filename), cache_dir, no_cache)
    request = Request(
        paths or (() if hook else (".",)),
        policies,
        reporting.select,
        reporting.ignore,
        namespace,
        timings,
        crds,
        reporting.preset,
        force_exclude,
        stdin_filename,
        kustomize == "auto",
        baseline,
        no_baseline,
        since,
        cache=cache,
        helm=helm == "auto",
        max_builds=max_builds,
        max_units=max_units,
        build_seconds=build_seconds,
    )
    if hook:
        from policykit.workspace.linting.since import hook_request, with_commit

        request = hook_request(request)
    options = Options(with_fixes(reporting.outputs), today(), jobs)
    fixing = fix or unsafe_fixes or diff
    known = _continued(request, options) if request.since is not None and not fixing else None
    if hook and not known:
        request = with_commit(request)
    opened = known.opened if known else _opened(request)
    workspace, notes = opened
    progress = _progress_line()
    if progress:
        options = options._replace(progress=progress)
    done, changes = True, False
    after: Mapping[str, bytes] = {}
    if known:
        report = known.report
    elif fixing:
        only = frozenset(request.whole) if hook else None
        fixed_files = api.fix(workspace, options, unsafe=unsafe_fixes, only=only)
        report, after = fixed_files.report, fixed_files.after
        refused = bool(report.refused - (set() if unsafe_fixes else {Applicability.UNSAFE}))
        done, changes = _make(fixed_files, opened, diff)
        done = done and not refused
    else:
        report = lint(request, opened, options)
    if progress:
        progress.erase()
    stdout_taken = diff or (STDIN in paths and (fix or unsafe_fixes))
    context = format_context(workspace, after, named=bool(request.policies))
    done = write(report, reporting.outputs, context, reporting.color, stdout_taken) and done
    _print_notes(report, opened, show_files)
    _print_numbers(report, reporting.statistics, timings)
    if require_judged and not _is_all_judged(report, workspace):
        done = False
    if notes.failures or report.failures or not done or (require_policy and report.without_policy):
        return 2
    return int(reporting.fails(report) or (changes and not reporting.exit_zero))


def _continued(request: Request, options: Options) -> ContinuedRun | None:
    """What the run comes to if it goes on from an earlier one; None: it cannot."""
    from policykit.workspace.linting.continued import continued

    return continued(request, options)


def _opened(request: Request) -> OpenResult:
    """The workspace of the run, without what an earlier revision had."""
    if request.since is None:
        return open_workspace(request)
    from policykit.workspace.linting.since import without_earlier

    return without_earlier(request, open_workspace(request))


_OF_FILES = frozenset(
    {
        "paths",
        "fix",
        "unsafe_fixes",
        "diff",
        "force_exclude",
        "stdin_filename",
        "baseline",
        "no_baseline",
        "since",
        "hook",
        "crds",
        "kustomize",
        "helm",
        "require_policy",
        "require_judged",
        "show_files",
        "timings",
        "jobs",
    }
)
"""Parameters that mean something for files only."""


def _refuse_options_of_files(values: Mapping[str, object]) -> None:
    """Raises UsageError for parameters that --live has no use for."""
    for name, flag in command.stated(values):
        if name in _OF_FILES:
            raise UsageError(f"{flag or 'PATH'} cannot be combined with --live", "omit one of them")


def _progress_line() -> ProgressLine | None:
    """What shows how far a long run has come; None: nobody looks at standard error."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from policykit.cli.progress import ProgressLine

    return ProgressLine()


def _is_all_judged(report: Report, workspace: Workspace) -> bool:
    """Whether the settings accept everything that was not judged; the rest is reported."""
    left = not_accepted(workspace.settings, report.not_judged)
    for one in left:
        print_error(SourceError(f"not judged ({one.reason}): {one.detail}", _ACCEPT, one.path))
    return not left


def _make(fixed_files: FixResult, opened: OpenResult, diff: bool) -> tuple[bool, bool]:
    """Prints or writes the fixes; returns (everything was written, a diff was printed)."""
    from policykit.cli import fixes

    failed, shown = frozenset[str](), ""
    if diff:
        shown = fixes.differences(fixed_files, {m.file: m.path for m in opened.workspace.input_files})
        write_data(shown)
    else:
        failed = fixes.write_fixed_files(fixed_files, STDIN, opened.notes.given)
    fixes.print_summary(fixed_files, diff=diff, failed=failed)
    if opened.workspace.builds and fixed_files.report.findings:
        print_message(
            "policykit: findings in objects built by kustomize cannot be fixed; use --kustomize never to fix"
            " the source files"
        )
    return not failed, bool(shown)


def _print_numbers(report: Report, statistics: bool, timings: bool) -> None:
    for line in text.statistics(report) if statistics else ():
        print_message(line)
    for line in text.timings(report) if timings else ():
        print_message(line)


def _older_baselines(workspace: Workspace) -> Iterator[str]:
    """Baselines with entries that hide more than what was accepted."""
    for file in workspace.baselines.files.values() if workspace.baselines else ():
        if any(key.cluster == ANY for key in file.baseline.accepted):
            yield (
                f"{file.shown}: an older policykit wrote it: it accepts findings in every cluster and for "
                "any cause\n  help: run `policykit baseline` to accept only what is found now"
            )


def _print_notes(report: Report, opened: OpenResult, show_files: bool) -> None:
    workspace, notes = opened
    if not workspace.input_files and not notes.failures:
        besides = " besides those that the settings exclude" if notes.excludes else ""
        print_message(f"policykit: no YAML or JSON files found{besides}")
    for failure in (*notes.policy_notices, *_older_baselines(workspace), *notes.failures, *report.failures):
        print_error(failure)
    if show_files:
        for path, why in report.skipped:
            print_message(f"skipped {path}: {why}")
        for path in notes.elsewhere:
            print_message(f"skipped {path}: it leads outside the repository or the folder that was named")
    for line in notes.since:
        print_message(line)
    for line in about_builds(workspace, notes, every=show_files):
        print_message(line)
    for line in about_not_judged(report, workspace, every=show_files):
        print_message(line)
    for line in about_workload_kinds(report):
        print_message(line)
    for line in assumed_releases(workspace):
        print_message(line)
    if report.without_policy and report.silent_rules:
        files = "file has" if report.without_policy == 1 else "files have"
        advice = hint_without_policy("name one with -p, or see `policykit init`")
        print_message(
            f"policykit: {report.without_policy} {files} no policy: {report.silent_rules} "
            f"rule{'s' if report.silent_rules > 1 else ''} did not run ({advice})"
        )
    print_message(text.summary(report, failed=bool(notes.failures or report.failures)))
