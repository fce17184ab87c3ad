"""Reports of a run: their options, formats and files, and messages about what was not judged."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from policykit import __version__
from policykit.cli import click
from policykit.cli.options import decorated
from policykit.cli.output import encoded, print_error, print_escaped, write_output
from policykit.errors import SourceError, UsageError
from policykit.formats import FORMATS, WITH_FIXES, FormatContext, in_parts
from policykit.formats.text import use_colour
from policykit.linter.finding import Report
from policykit.linter.not_judged import EMPTY_INPUT, SOURCE
from policykit.linter.registry import PRESETS
from policykit.linter.workspace import Workspace
from policykit.model.severity import Severity
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest
from policykit.workspace import filesystem
from policykit.workspace.files import repository_root
from policykit.workspace.linting.loader import WorkspaceNotes

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


def assumed_releases(workspace: Workspace) -> Iterator[str]:
    """For each policy a line about Kubernetes and one about its other systems, where no release is stated."""
    lines = (line for setting in workspace.settings if setting.cluster for line in _lines(setting.cluster))
    yield from dict.fromkeys(lines)


def _lines(cluster: Cluster) -> Iterator[str]:
    from policykit.targets import DEFAULT_TARGET, target_of

    default = target_of(DEFAULT_TARGET)
    if not cluster.kubernetes_version and default and default.releases:
        known = default.releases.load()
        yield (
            f"policykit: {cluster.source}: kubernetes not set: only what every release from {known.range} "
            "refuses is an error"
        )
    found = []
    for name, settings in cluster.targets.items():
        target = target_of(name)
        if not settings.version and target and target.releases and not target.always:
            found.append((name, target.releases.load()))
    if found:
        names = ", ".join(f"targets.{name}.version" for name, _ in found)
        versions = ", ".join(f"{known.title} {known.newest}" for _, known in found)
        assumed = f"the newest known release is assumed ({versions})"
        yield f"policykit: {cluster.source}: {names} not set: {assumed}"


_ALWAYS_SHOWN = (EMPTY_INPUT, SOURCE)
"""Reasons that are printed without `--show-files`."""
_MOST = 3


def about_builds(workspace: Workspace, notes: WorkspaceNotes, *, every: bool) -> list[str]:
    """A message about kustomizations that were not built; with `every`, one for each kustomization."""
    lines = [f"policykit: {notice}" for notice in notes.notices]
    not_built = [one for one in workspace.not_judged if one.reason != SOURCE]
    if every:
        lines += [f"built {each.shown} with kustomize" for each in workspace.builds if not each.file]
        return lines + [f"not built {one.path}: {one.detail}" for one in not_built]
    if not not_built:
        return lines
    folder, why = not_built[0].path, not_built[0].detail
    more = len(not_built) - 1
    if not more:
        return [*lines, f"policykit: {folder} is linted file by file: {why}"]
    if len({one.detail for one in not_built}) == 1:
        return [*lines, f"policykit: {more + 1} kustomizations are linted file by file: {why}"]
    return [
        *lines,
        f"policykit: {more + 1} kustomizations are linted file by file; {folder}: {why}"
        " (--show-files names the others)",
    ]


def about_not_judged(report: Report, workspace: Workspace, *, every: bool) -> list[str]:
    """Messages about standard input without objects and about sources, with `every` about everything that was
    not judged; `about_builds` has those about kustomizations."""
    builds = {one for one in workspace.not_judged if one.reason != SOURCE}
    found = [one for one in report.not_judged if one not in builds and (every or one.reason in _ALWAYS_SHOWN)]
    lines = [f"policykit: {one.path} is not judged: {one.detail}" for one in found]
    if every or len(lines) <= _MOST:
        return lines
    more = len(lines) - _MOST
    return [
        *lines[:_MOST],
        f"policykit: {more} more {'is' if more == 1 else 'are'} not judged (--show-files names them)",
    ]


def about_workload_kinds(report: Report) -> list[str]:
    """One message about all objects that request cards and have no workload kind."""
    if not report.unrecognized:
        return []
    from policykit.placement.recognition import HOW_TO_STATE

    path, name = report.unrecognized[0]
    more = len(report.unrecognized) - 1
    have = f" and {more} more have" if more else " has"
    return [
        f"policykit: {name} in {path}{have} no workload kind, although the pods request cards: rules about"
        f" workload kinds skip {'them' if more else 'it'}; {HOW_TO_STATE}"
    ]


_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable of GitHub Actions: names the file whose Markdown is shown with the run."""


class Output(NamedTuple):
    """A format, and the file it is written to; empty: standard output."""

    format: str
    path: str = ""


class ReportOptions(NamedTuple):
    """Which rules run, how findings are written, and which of them fail the run."""

    preset: str
    """Empty: that of the settings."""
    select: Sequence[str]
    ignore: Sequence[str]
    outputs: Sequence[Output]
    color: str
    fail_on: Severity
    exit_zero: bool
    statistics: bool

    def fails(self, report: Report) -> bool:
        """Whether a finding fails the run."""
        worst = report.worst()
        fails = worst is not None and worst is not Severity.INFO and worst.rank <= self.fail_on.rank
        return fails and not self.exit_zero


_OPTIONS = (
    click.option(
        "--format",
        "formats",
        multiple=True,
        metavar="FORMAT[=FILE]",
        help=f"Output format and, optionally, file; repeatable. {', '.join(FORMATS)}; default: text.",
    ),
    click.option(
        "--output", metavar="FILE", default="", help="Write findings to FILE instead of standard output."
    ),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colours in text; auto: only on a terminal; respects FORCE_COLOR and NO_COLOR.",
    ),
    click.option(
        "--preset",
        type=click.Choice(PRESETS),
        default=None,
        help="Rules to run: minimal, errors only; recommended, also warnings and info; strict, all rules."
        " Default: the preset in the settings, else recommended.",
    ),
    click.option(
        "--select",
        multiple=True,
        metavar="RULES",
        help="Only these rules: codes, names or families, separated by commas.",
    ),
    click.option("--ignore", multiple=True, metavar="RULES", help="Skip these rules."),
    click.option(
        "--fail-on",
        type=click.Choice([s.value for s in Severity]),
        default="warning",
        show_default=True,
        help="Lowest severity that fails the run; info never does.",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings."),
    click.option("--statistics", is_flag=True, help="Print findings per rule to stderr."),
)


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """For commands that report findings: they get the options as `reporting`."""

    @wraps(command)
    def run(
        *,
        formats: tuple[str, ...],
        output: str,
        color: str,
        preset: str | None,
        select: tuple[str, ...],
        ignore: tuple[str, ...],
        fail_on: str,
        exit_zero: bool,
        statistics: bool,
        **options: Any,
    ) -> Any:
        wanted, severity = outputs(formats, output), Severity(fail_on)
        rules = _words(select), _words(ignore)
        reporting = ReportOptions(preset or "", *rules, wanted, color, severity, exit_zero, statistics)
        return command(**options, reporting=reporting)

    return decorated(run, _OPTIONS)


def _words(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in option.replace(",", " ").split()]


def outputs(formats: Sequence[str], output: str) -> tuple[Output, ...]:
    """Parses NAME or NAME=FILE; `output` is the file of the one without.

    Raises UsageError for an unknown format, for two without a file, and for two with the same.
    """
    found = [_output(given) for given in formats or ("text",)]
    open_ended = [one.format for one in found if not one.path]
    if len(open_ended) > 1:
        both = " and ".join(open_ended[:2])
        raise UsageError(f"formats {both} would both go to standard output", f"write {open_ended[1]}=FILE")
    if output and not open_ended:
        raise UsageError(
            "--output applies to a format without a file, but every format has one", "omit --output"
        )
    done = tuple(one if one.path else one._replace(path=output) for one in found)
    _refuse_one_file_for_two(done)
    return done


def with_fixes(found: Sequence[Output]) -> bool:
    """Whether any of the formats shows fixes."""
    return any(one.format in WITH_FIXES for one in found)


def write(
    report: Report, found: Sequence[Output], context: FormatContext, color: str, stdout_taken: bool
) -> bool:
    """Writes every format; with `stdout_taken`, to standard error instead of standard output.

    Returns False if a file could not be written, which is reported.
    """
    done = True
    for one in found:
        colours = not one.path and use_colour(color, os.environ, _is_terminal(stdout_taken))
        parts = in_parts(one.format, report, context._replace(colour=colours, version=__version__))
        try:
            if one.path:
                write_output("".join(parts), one.path)
            elif not stdout_taken:
                for part in parts:
                    write_output(part)
            elif report_text := "".join(parts):
                print_escaped(report_text.removesuffix("\n"))
            if one.format == "github":
                _summarize(report, context)
        except SourceError as error:
            print_error(error)
            done = False
    return done


def _output(given: str) -> Output:
    name, equals, path = given.partition("=")
    if name not in FORMATS:
        near = nearest(name, FORMATS)
        raise UsageError(
            f"unknown format {name!r}",
            f"did you mean {near}?" if near else f"available formats: {', '.join(FORMATS)}",
        )
    if equals and not path:
        hint = f"write {name}=FILE, or {name} for standard output"
        raise UsageError(f"--format {given} names no file", hint)
    return Output(name, path)


def _refuse_one_file_for_two(found: Sequence[Output]) -> None:
    """The later one would overwrite the earlier one, except in a device such as /dev/stderr."""
    taken: dict[str, str] = {}
    for name, path in found:
        file = filesystem.realpath(path) if path else ""
        if file in taken and (filesystem.isfile(path) or not filesystem.exists(path)):
            both = f"{taken[file]} and {name}"
            raise UsageError(f"formats {both} would both be written to {path}", "name a file for each")
        taken |= {file: name} if file else {}


def _summarize(report: Report, context: FormatContext) -> None:
    path = os.environ.get(_STEP_SUMMARY)
    if not path:
        return
    filesystem.cannot_repeat()  # the summary is added to what other steps wrote
    from policykit.formats.github import step_summary
    from policykit.workspace.safe_paths import output
    from policykit.workspace.writing import append

    append(output(path), encoded(step_summary(report, context)))


def _is_terminal(stdout_taken: bool) -> bool:
    stream = sys.stderr if stdout_taken else sys.stdout
    return stream is not None and stream.isatty()


def format_context(workspace: Workspace, after: Mapping[str, bytes], *, named: bool) -> FormatContext:
    """The context of formats; `after`: new bytes of fixed files, by the name they are opened by; `named`: the
    policies were named on the command line."""
    opened = {input_file.path: input_file.file for input_file in workspace.input_files}

    def raw(path: str) -> bytes:
        file = opened.get(path, path)
        try:
            return after[file] if file in after else workspace.read(file)
        except SourceError:
            return b""  # already reported as a failure of the run

    here = os.getcwd()
    found = {setting.cluster.name for setting in workspace.settings if setting.cluster}
    clusters = tuple(sorted(found - {""}))
    return FormatContext(
        raw,
        repository_root(here) or here,
        tuple(sorted(opened)),
        clusters=clusters,
        category="+".join(clusters) if named else "",
    )
