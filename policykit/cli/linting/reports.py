"""The reports of a run: their formats, the files they are written to, and what formats need to know."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from policykit import __version__
from policykit.cli.output import encoded, print_error, print_escaped, write_output
from policykit.errors import SourceError, UsageError
from policykit.formats import FORMATS, WITH_FIXES, FormatContext, format_named
from policykit.formats.text import use_colour
from policykit.linter.finding import Report
from policykit.linter.workspace import Workspace
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest
from policykit.workspace.files import repository_root

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable of GitHub Actions: names the file whose Markdown is shown with the run."""


class Output(NamedTuple):
    """A format, and the file it is written to; empty: standard output."""

    format: str
    path: str = ""


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
        report_text = format_named(one.format)(report, context._replace(colour=colours, version=__version__))
        try:
            if one.path or not stdout_taken:
                write_output(report_text, one.path)
            elif report_text:
                print_escaped(report_text.removesuffix("\n"))
            if one.format == "github":
                _summarize(report, context)
        except SourceError as error:
            print_error(error)
            done = False
    return done


def _output(given: str) -> Output:
    name, _, path = given.partition("=")
    if name not in FORMATS:
        near = nearest(name, FORMATS)
        raise UsageError(
            f"unknown format {name!r}",
            f"did you mean {near}?" if near else f"available formats: {', '.join(FORMATS)}",
        )
    return Output(name, path)


def _refuse_one_file_for_two(found: Sequence[Output]) -> None:
    """The later one would overwrite the earlier one, except in a device such as /dev/stderr."""
    taken: dict[str, str] = {}
    for name, path in found:
        file = os.path.realpath(path) if path else ""
        if file in taken and (os.path.isfile(path) or not os.path.exists(path)):
            both = f"{taken[file]} and {name}"
            raise UsageError(f"formats {both} would both be written to {path}", "name a file for each")
        taken |= {file: name} if file else {}


def _summarize(report: Report, context: FormatContext) -> None:
    path = os.environ.get(_STEP_SUMMARY)
    if not path:
        return
    from policykit.formats.github import step_summary
    from policykit.workspace.boundary import output
    from policykit.workspace.writing import append

    append(output(path), encoded(step_summary(report, context)))


def _is_terminal(stdout_taken: bool) -> bool:
    stream = sys.stderr if stdout_taken else sys.stdout
    return stream is not None and stream.isatty()


def format_context(workspace: Workspace, after: Mapping[str, bytes]) -> FormatContext:
    """The context of formats; `after`: new bytes of fixed files, by the name they are opened by."""
    opened = {member.path: member.file for member in workspace.members}

    def raw(path: str) -> bytes:
        file = opened.get(path, path)
        try:
            return after[file] if file in after else workspace.read(file)
        except SourceError:
            return b""  # already reported as a failure of the run

    here = os.getcwd()
    clusters = {setting.cluster.name for setting in workspace.settings if setting.cluster}
    return FormatContext(
        raw, repository_root(here) or here, tuple(sorted(opened)), clusters=tuple(sorted(clusters - {""}))
    )
