"""Workflow commands of GitHub Actions, and the summary of a step."""

from __future__ import annotations

import re

import pytest

from policykit.formats.github import github, step_summary
from policykit.linter.finding import Report
from policykit.manifests.node import Span
from tests.formats.reports import CONTEXT, EMPTY, FINDING, FIXED, MIXED, NOTE

COMMAND = re.compile(r"::(error|warning|notice) (?:([^:]*))::(.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner takes it apart."""
    match = COMMAND.fullmatch(line)
    assert match is not None
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    return match[1], {key: unescaped(value) for key, value in properties.items()}, unescaped(match[3])


def unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_the_gravest_first() -> None:
    lines = github(Report((NOTE, FIXED, FINDING), 1, 1), CONTEXT).splitlines()
    assert [read(line)[0] for line in lines] == ["error", "warning", "notice"]
    assert lines[0] == (
        "::error file=apps/train.yaml,line=24,endLine=24,col=9,endColumn=40,title=PK101 missing-toleration"
        "::nothing tolerates a: 1%0AAdd the toleration,%0Aor another one."
    )


@pytest.mark.parametrize("path", ["a,b:c%.yaml", "名.yaml", "a\nb.yaml"])
def test_any_path_and_message_come_back(path: str) -> None:
    odd = FINDING._replace(path=path, message="50% of a::b,\r\n c", help="")
    _, properties, said = read(github(Report((odd,), 1, 1), CONTEXT).removesuffix("\n"))
    assert properties["file"] == path
    assert said == "50% of a::b,\r\n c"


def test_columns_only_within_one_line() -> None:
    block = FINDING._replace(span=Span(3, 1, 9, 4))
    _, properties, _ = read(github(Report((block,), 1, 1), CONTEXT).removesuffix("\n"))
    assert properties == {
        "file": "apps/train.yaml",
        "line": "3",
        "endLine": "9",
        "title": "PK101 missing-toleration",
    }


def test_what_will_not_be_shown_is_said() -> None:
    many = tuple(FINDING._replace(message=str(n)) for n in range(12))
    last = github(Report((*many, FIXED), 1, 1), CONTEXT).splitlines()[-1]
    assert last == (
        "::notice title=policykit::2 findings more than GitHub shows as annotations: the log has all of them"
    )
    assert github(EMPTY, CONTEXT) == ""


def test_step_summary() -> None:
    assert step_summary(MIXED, CONTEXT) == (
        "### policykit\n\n1 error, 1 warning, 1 info\n\n"
        "| | rule | location | message |\n| --- | --- | --- | --- |\n"
        "| error | PK101 missing-toleration | apps/train.yaml:24 | nothing tolerates a: 1 |\n"
        "| warning | PK206 quota-key-never-counted | apps/名.yaml:2 | 50% of 'Job', it says: never |\n"
        "| info | PK008 unknown-api-kind | b.yaml:1 | no kind 节点 |\n"
    )
    assert step_summary(EMPTY, CONTEXT) == "### policykit\n\nno findings\n\n"
    piped = Report((NOTE._replace(message="a|b\n<c>"),), 1, 1)
    assert "| a\\|b &lt;c> |" in step_summary(piped, CONTEXT)
