"""`policykit lint`: findings on stdout, everything else on stderr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from policykit import api
from policykit.cli.caching import cache_of, cache_options
from policykit.cli.linting.around import around
from policykit.cli.linting.cached import lint
from policykit.cli.linting.outputs import outputs, with_fixes, write
from policykit.cli.linting.request import STDIN, Request
from policykit.cli.linting.today import today
from policykit.cli.linting.workspace import Opened, about_builds, open_workspace
from policykit.cli.output import complain, emit_data, say
from policykit.cli.policy import allow_path
from policykit.formats import FORMATS
from policykit.formats.text import summary
from policykit.linter.finding import Report
from policykit.linter.selection import PRESETS
from policykit.linter.workspace import Options
from policykit.model.severity import Severity

if TYPE_CHECKING:
    from policykit.linter.mend import Mended


@click.command("lint")
@click.argument("paths", nargs=-1)
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Policy file, or profile:NAME. Default: the nearest policykit.yaml upwards.",
)
@allow_path
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="FORMAT[=FILE]",
    help=f"How to tell findings, and where; several times for several. {', '.join(FORMATS)}; default: text.",
)
@click.option(
    "--output", metavar="FILE", default="", help="Write findings to FILE instead of standard output."
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Colours in text; auto: on a terminal, FORCE_COLOR and NO_COLOR heeded.",
)
@click.option(
    "--preset",
    type=click.Choice(PRESETS),
    default=None,
    help="How much is told: errors only, warnings and advice too, or all there is. Default: as the settings"
    " say, else recommended.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    help="Only these codes, names or families, separated by commas.",
)
@click.option("--ignore", multiple=True, metavar="RULES", help="Never these.")
@click.option("--fix", is_flag=True, help="Change the files: safe fixes, proven to move no pod wrongly.")
@click.option("--unsafe-fixes", is_flag=True, help="Make unsafe fixes too; implies --fix.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
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
    "--namespace",
    metavar="NAME",
    default="",
    help="Where objects without a namespace stand. Default: where their kustomization says, else default.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    default="",
    help="Leave out what FILE accepts. Default: the nearest .policykit-baseline.json above each file.",
)
@click.option("--no-baseline", is_flag=True, help="Report what a baseline accepts, too.")
@click.option(
    "--since",
    metavar="REV",
    help="Report only documents that changed since a git revision; REV... is where HEAD left it.",
)
@click.option(
    "--crd",
    "crds",
    multiple=True,
    metavar="PATH",
    help="File or folder with CustomResourceDefinitions: objects of their kinds are checked against them.",
)
@click.option(
    "--kustomize",
    type=click.Choice(("auto", "never")),
    default="auto",
    show_default=True,
    help="Look at kustomizations as kustomize builds them, where it is on PATH; never: at the files.",
)
@click.option("--require-policy", is_flag=True, help="Fail where a file has no policy.")
@click.option("--show-files", is_flag=True, help="Say on stderr which files were passed over, and why.")
@click.option("--statistics", is_flag=True, help="Say on stderr how often each rule spoke.")
@click.option("--timings", is_flag=True, help="Say on stderr how long each rule took.")
@cache_options
@click.option(
    "--jobs", type=click.IntRange(min=0), default=0, help="Worker processes. Default: as many as pay."
)
def command(
    paths: tuple[str, ...],
    policy: str | None,
    formats: tuple[str, ...],
    output: str,
    color: str,
    preset: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    fail_on: str,
    exit_zero: bool,
    force_exclude: bool,
    stdin_filename: str,
    namespace: str,
    baseline: str,
    no_baseline: bool,
    since: str | None,
    crds: tuple[str, ...],
    kustomize: str,
    require_policy: bool,
    show_files: bool,
    statistics: bool,
    timings: bool,
    cache_dir: str | None,
    no_cache: bool,
    jobs: int,
) -> int:
    """Find scheduling mistakes in manifests: files, folders, or - for standard input.

    With --fix, standard input comes out fixed on standard output and findings go to standard
    error. With --diff the diff is on standard output, and findings go to standard error.

    With --since a document has changed when its text stood nowhere in its file at that revision,
    whether the change is committed or not. A renamed file is compared with what it was; new files
    and standard input have changed as a whole. Findings of all other documents are left out, also
    where the cause is a change elsewhere; rules about several documents still look at all of them.
    REV is read in the repository of the current folder; a submodule is compared with the commit
    recorded there.

    POLICYKIT_TODAY=YYYY-MM-DD is the day that suppressions with an end are held against; default:
    today, in UTC.
    """
    if baseline and no_baseline:
        raise click.UsageError("--baseline and --no-baseline exclude each other: give one of them")
    wanted = outputs(formats, output)
    cache = cache_of((*(paths or (".",)), policy or "", stdin_filename), cache_dir, no_cache)
    request = Request(
        paths or (".",),
        policy or "",
        _words(select),
        _words(ignore),
        namespace,
        timings,
        crds,
        preset or "",
        force_exclude,
        stdin_filename,
        kustomize == "auto",
        baseline,
        no_baseline,
        since,
        cache,
    )
    opened = open_workspace(request)
    workspace, notes = opened
    options = Options(with_fixes(wanted), today(), jobs)
    done, changes = True, False
    after: Mapping[str, bytes] = {}
    if fix or unsafe_fixes or diff:
        mended = api.fix(workspace, options, unsafe=unsafe_fixes)
        report, after = mended.report, mended.after
        done, changes = _make(mended, opened, diff)
    else:
        report = lint(request, opened, options)
    aside = diff or (STDIN in paths and (fix or unsafe_fixes))
    done = write(report, wanted, around(workspace, after), color, aside) and done
    _tell(report, opened, show_files)
    _tell_numbers(report, statistics, timings)
    if notes.failures or report.failures or not done or (require_policy and notes.without_policy):
        return 2
    return 0 if exit_zero or not (changes or _fails(report, Severity(fail_on))) else 1


def _make(mended: Mended, opened: Opened, diff: bool) -> tuple[bool, bool]:
    """Shows or writes the fixes: (everything was written, a diff was shown)."""
    from policykit.cli.linting import fixed

    failed, shown = frozenset[str](), ""
    if diff:
        shown = fixed.differences(mended, {m.file: m.path for m in opened.workspace.members})
        emit_data(shown)
    else:
        failed = fixed.written(mended, STDIN, opened.notes.given)
    fixed.tell(mended, diff=diff, failed=failed)
    if opened.workspace.builds and mended.report.findings:
        say(
            "policykit: what is said of objects as kustomize builds them has no fix; --kustomize never"
            " mends the files as they stand"
        )
    return not failed, bool(shown)


def _tell_numbers(report: Report, statistics: bool, timings: bool) -> None:
    if statistics or timings:
        from policykit.formats import statistics as numbers

        for line in numbers.statistics(report) if statistics else ():
            say(line)
        for line in numbers.timings(report) if timings else ():
            say(line)


def _words(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in option.replace(",", " ").split()]


def _fails(report: Report, fail_on: Severity) -> bool:
    worst = report.worst()
    return worst is not None and worst is not Severity.INFO and worst.rank <= fail_on.rank


def _tell(report: Report, opened: Opened, show_files: bool) -> None:
    workspace, notes = opened
    if not workspace.members and not notes.failures:
        say("policykit: no manifest files there")
    for failure in (*notes.failures, *report.failures):
        complain(failure)
    if show_files:
        for path, why in report.skipped:
            say(f"skipped {path}: {why}")
        for path in notes.elsewhere:
            say(f"skipped {path}: it leads out of the repository, or of the folder that was named")
    for line in about_builds(workspace.builds, notes, every=show_files):
        say(line)
    if notes.without_policy and report.silent_rules:
        files = "file has" if notes.without_policy == 1 else "files have"
        say(
            f"policykit: {notes.without_policy} {files} no policy: {report.silent_rules} "
            f"rule{'s' if report.silent_rules > 1 else ''} stayed"
            " silent (give one with -p, or see `policykit init`)"
        )
    say(summary(report))
