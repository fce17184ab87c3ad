"""The command line as a whole: help, unknown commands, streams that are closed, full or gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policykit import __version__
from policykit.cli import COMMANDS
from tests.cli.commands import Shell, process
from tests.shared import ROOT

BROKEN = "a: [\n"


@pytest.mark.parametrize("words", [["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_help(shell: Shell, words: list[str]) -> None:
    result = shell.run(*words)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: policykit ")


def test_help_lists_every_command_by_task(shell: Shell) -> None:
    sections = shell.run("--help").out.split("\n\n")[3:-1]
    headings = [section.splitlines()[0] for section in sections]
    assert headings == ["Start:", "Generate:", "Check:", "Change:", "Cluster:", "Look up:"]
    listed = [line.split()[0] for section in sections for line in section.splitlines()[1:]]
    assert listed == list(COMMANDS)


def test_version(tmp_path: Path) -> None:
    result = process("--version", cwd=tmp_path)
    assert result == (0, f"policykit {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lin"], "unknown command 'lin'. Did you mean 'lint'?"),
        (["zzz"], "unknown command 'zzz'."),
        (["lint", "--nope"], "No such option"),
        (["lint", "--jobs", "-1"], "Invalid value for '--jobs': '-1' is not a whole number, 0 or more.\n"),
        (["audit", "--request-timeout", "0"], "'0' is not a number, more than 0.\n"),
        (["lint", "--build-seconds", "x"], "'x' is not a number, 0 or more.\n"),
        (["explain"], "Missing argument"),
        ([], "Usage: policykit"),
    ],
    ids=["near", "far", "option", "range", "open range", "no number", "argument", "nothing"],
)
def test_usage(shell: Shell, words: list[str], message: str) -> None:
    result = shell.run(*words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize(
    "name",
    [
        "--output=apps/stolen.yaml",
        "--output",
        "-p",
        "-pweird.yaml",
        "--fix",
        "--unknown.yaml",
        "-\x1b\n::e.yaml",
    ],
)
@pytest.mark.parametrize("command", ["lint", "patch", "where", "import"])
def test_the_name_of_a_file_is_never_an_option(shell: Shell, command: str, name: str) -> None:
    shell.write({name: "a: 1\n", "b.yaml": "a: 1\n"})
    result = shell.run(command, name, "b.yaml")
    message = (
        f"policykit: {name!r} is both an option and the name of a file\n"
        "  help: put ./ before the file name, or -- before all files\n"
    )
    assert result == (2, "", message)
    assert sorted(os.listdir()) == sorted([".git", name.partition("/")[0], "b.yaml"])


@pytest.mark.parametrize("words", [["./--fix", "b.yaml"], ["--", "--fix", "b.yaml"]])
def test_a_file_may_be_named_like_an_option(shell: Shell, words: list[str]) -> None:
    shell.write({"--fix": "a: 1\n", "b.yaml": "a: 1\n"})
    result = shell.run("lint", *words)
    assert result.code == 0
    assert result.err.endswith("no findings (0 objects in 2 files, 2 skipped)\n")


def shell_line(line: str, cwd: Path) -> tuple[str, str]:
    """Standard output and error of a line of bash, where `pk` is the command."""
    script = f'pk() {{ "{sys.executable}" -m policykit "$@"; }}; {line}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        check=False,
    )
    return done.stdout, done.stderr


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.mark.parametrize(
    ("line", "out"),
    [
        pytest.param("pk lint a.yaml > /dev/full; echo $?", "2\n", marks=FULL),
        pytest.param("pk lint a.yaml --output /dev/full; echo $?", "2\n", marks=FULL),
        pytest.param("pk rules > /dev/full; echo $?", "2\n", marks=FULL),
        pytest.param("pk lint a.yaml 2> /dev/full >/dev/null; echo $?", "1\n", marks=FULL),
        ("pk lint a.yaml >&-; echo $? >&2", ""),
        ("pk lint a.yaml 2>&- >/dev/null; echo $?", "1\n"),
        ("pk lint - <&-; echo $?", "2\n"),
        ("pk where - -p profile:hybrid-volcano <&-; echo $?", "2\n"),
        ("pk lint a.yaml --output /dev/stderr; echo $?", "1\n"),
        ("pk lint many | head -1 | cut -c1-6", "many/0\n"),
        ("pk rules | true", ""),
    ],
)
def test_streams(tmp_path: Path, line: str, out: str) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    (tmp_path / "many").mkdir()
    for number in range(1500):
        (tmp_path / "many" / f"{number:04}.yaml").write_text(BROKEN)
    result, errors = shell_line(line, tmp_path)
    assert result == out
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    assert not os.path.isfile("/dev/stderr") or os.path.islink("/dev/stderr")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_standard_input_and_files(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "a.yaml").write_text("b: c: d\n")
    words = ["lint", "-", "a.yaml", "--stdin-filename", "x/y.yaml", "--jobs", jobs, "--format", "concise"]
    result = process(*words, cwd=tmp_path, stdin=BROKEN.encode())
    assert result.code == 1
    assert [line.split(" ")[0] for line in result.out.splitlines()] == ["a.yaml:1:5:", "x/y.yaml:1:4:"]


def test_the_name_of_standard_input_chooses_the_policy(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/pyproject.toml").write_text("[tool.policykit.lint]\nignore = ['PK001']\n")
    result = process("lint", "-", "--stdin-filename", "app/a.yaml", cwd=tmp_path, stdin=BROKEN.encode())
    assert (result.code, result.out) == (0, "")
    assert process("lint", "-", cwd=tmp_path, stdin=BROKEN.encode()).out.startswith("<stdin>:1:4: PK001 ")


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.yaml", "w") as file:
        file.write(BROKEN)
    result = process("lint", ".", cwd=tmp_path)
    assert result.code == 1
    assert result.out.startswith("\\udcff.yaml:1:4: PK001 ")
    assert process("lint", "--format", "json", cwd=tmp_path).code == 1


INTERRUPTED = """
import os, signal, sys
from policykit.__main__ import main

def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith("a.yaml"):
        os.kill(os.getpid(), signal.SIGINT)

# A shell starts what runs in the background with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.addaudithook(hook)
sys.argv = ["policykit", "lint", "a.yaml"]
sys.exit(main())
"""


def test_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr
