"""The CI scripts in a hostile checkout: they lint it, and run nothing of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.packages.hostile import MODULES, PROGRAMS, Hostile, hostile
from tests.packages.template import job_of, with_inputs
from tests.shared import ROOT

Environment = dict[str, str]


class Ran(NamedTuple):
    """A job that ran in a hostile checkout."""

    on: str
    """github or gitlab."""
    job: Hostile
    done: subprocess.CompletedProcess[str]
    temporary: Path
    """Where the script may write."""


def careless(job: Hostile, more: Environment) -> Environment:
    """The job's variables: all that lead into the checkout, and nothing of the tests' own."""
    own = ("PYTHON", "PIP_", "GIT_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    named = {name: os.environ[name] for name in ("PIP_CERT", "PIP_DEFAULT_TIMEOUT") if name in os.environ}
    return {**kept, **named, **job.environment(), **more}


def on_github(folder: Path, index: Environment) -> Ran:
    job = hostile(folder, "policykit.sarif")
    temporary = folder / "temporary"
    temporary.mkdir()
    variables = {
        **index,
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_WORKSPACE": str(job.checkout),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "RUNNER_TEMP": str(temporary),
        "POLICYKIT_PATHS": ".",
        "POLICYKIT_POLICY": "",
        "POLICYKIT_ARGS": "--since HEAD",
        "POLICYKIT_CHECK_GENERATED": "false",
        "POLICYKIT_SARIF": "policykit.sarif",
    }
    return _ran("github", job, [shell("bash"), str(ROOT / "ci" / "github.sh")], variables, temporary)


def on_gitlab(folder: Path, index: Environment) -> Ran:
    component = job_of(with_inputs(package=str(ROOT), options="--since HEAD"))
    job = hostile(folder, *component["artifacts"]["reports"].values())
    temporary = folder / "temporary"
    temporary.mkdir()
    variables = {
        **index,
        **component["variables"],
        "CI_PROJECT_DIR": str(job.checkout),
        "TMPDIR": str(temporary),
    }
    return _ran("gitlab", job, [shell("sh"), "-ec", "\n".join(component["script"])], variables, temporary)


def _ran(on: str, job: Hostile, command: list[str], variables: Environment, temporary: Path) -> Ran:
    environment = careless(job, variables)
    done = subprocess.run(
        command, cwd=job.checkout, env=environment, capture_output=True, text=True, check=False
    )
    return Ran(on, job, done, temporary)


def shell(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name} here")
    return path


@pytest.fixture(scope="module", params=[on_github, on_gitlab], ids=["github", "gitlab"])
def ran(request: pytest.FixtureRequest, index: Environment, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    found = request.param(tmp_path_factory.mktemp("job"), index)
    assert isinstance(found, Ran)
    return found


def test_the_checkout_is_linted(ran: Ran) -> None:
    assert ran.done.returncode == 1, ran.done.stderr
    assert re.search(r"quota\.yaml[:,].*PK206", ran.done.stdout)


def test_nothing_of_it_runs_and_nothing_is_written_elsewhere(ran: Ran) -> None:
    assert ran.job.traps() == []


def test_what_it_leaves(ran: Ran) -> None:
    """A runner of GitHub clears its own temporary folder; that of GitLab may be the machine's."""
    left = sorted(path.name.partition(".")[0] for path in ran.temporary.iterdir())
    assert left == (["output", "policykit"] if ran.on == "github" else [])


def test_the_installed_command_runs_nothing_of_it(ran: Ran) -> None:
    installed = list(ran.temporary.glob("*/venv/bin/policykit"))
    assert len(installed) == (ran.on == "github")
    relative = os.pathsep.join([".", "bin", "", os.environ["PATH"]])
    for command in installed:
        for more in ({}, {"PYTHONSAFEPATH": "1"}, {"PATH": relative}):
            environment = {"PATH": os.environ["PATH"], "POLICYKIT_CACHE_DIR": "", **more}
            for words in (["--version", "--verbose"], ["lint", "--jobs", "2"], ["lint", "--since", "HEAD"]):
                done = subprocess.run([command, *words], cwd=ran.job.checkout, env=environment, check=False)
                assert done.returncode == (words[0] == "lint")
    assert ran.job.traps() == []


@pytest.mark.parametrize("before", ["", "del os.fork"], ids=["forked", "no fork"])
def test_workers_run_nothing_of_it(tmp_path: Path, before: str) -> None:
    """Where there is no fork, as on Windows, a worker would be a new Python in the current folder."""
    job = hostile(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(
        f"import os, sys\nsys.path.append({str(ROOT)!r})\nfrom policykit.__main__ import main\n"
        f"{before}\nsys.exit(main())\n"
    )
    (job.checkout / "clean.yaml").write_text("# nothing\n")
    command = [sys.executable, str(program), "lint", "--jobs", "2", "--no-cache"]
    done = subprocess.run(command, cwd=job.checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("quota.yaml:4:15: PK206 ")
    assert job.traps() == []


@pytest.mark.parametrize(
    ("trap", "words"),
    [
        ("venv", [sys.executable, "-m", "venv", "--help"]),
        ("pip", [sys.executable, "-m", "pip", "--version"]),
        ("policykit", [sys.executable, "-m", "policykit", "--version"]),
        *((name, [sys.executable, "-c", f"import {name}"]) for name in MODULES),
        *((name, ["sh", "-c", name]) for name in PROGRAMS),
        ("python-version", ["SHIMS/python3", "-c", ""]),
    ],
)
def test_the_traps_are_set(tmp_path: Path, trap: str, words: list[str]) -> None:
    """What a script does that is not careful."""
    job = hostile(tmp_path)
    words = [word.replace("SHIMS", str(job.shims)) for word in words]
    environment = {name: value for name, value in job.environment().items() if not name.startswith("PYTHON")}
    subprocess.run(words, cwd=job.checkout, env=environment, capture_output=True, check=False)
    assert trap in job.traps()


@pytest.mark.parametrize(
    ("variable", "trap", "words"),
    [
        ("PYTHONPATH", "sitecustomize", [sys.executable, "-c", ""]),
        ("PYTHONUSERBASE", "usercustomize", ["SYSTEM", "-c", ""]),
        ("HOME", "usercustomize", ["SYSTEM", "-c", ""]),
        ("HOME", "gitconfig", ["git", "diff-index", "-p", "HEAD"]),
        ("XDG_CONFIG_HOME", "gitconfig", ["git", "diff-index", "-p", "HEAD"]),
        ("GIT_CONFIG_GLOBAL", "gitconfig", ["git", "diff-index", "-p", "HEAD"]),
        ("PATH", "git", ["sh", "-c", "git"]),
    ],
)
def test_the_variables_lead_to_traps(tmp_path: Path, variable: str, trap: str, words: list[str]) -> None:
    job = hostile(tmp_path)
    target_name = getattr(sys, "_base_executable", sys.executable)
    words = [target_name if word == "SYSTEM" else word for word in words]
    environment = {"PATH": os.environ["PATH"], variable: job.environment()[variable]}
    subprocess.run(words, cwd=job.checkout, env=environment, capture_output=True, check=False)
    assert trap in job.traps()


def started(text: str) -> list[str]:
    """The words with which a script starts Python."""
    return re.findall(r'[\w./"${}-]*python3?"? +-[^\n|&]*', text)


@pytest.mark.parametrize(
    "path", ["ci/github.sh", "templates/lint/template.yml", "Containerfile", "action.yml"]
)
def test_python_is_started_in_isolated_mode(path: str) -> None:
    for words in started((ROOT / path).read_text(encoding="utf-8")):
        assert re.search(r'python3?"? +(-I |--version)', words), words


def test_both_scripts_take_the_same_from_the_environment() -> None:
    """GitLab gives a component no file beside its template, so these lines stand in both."""
    lines = (ROOT / "ci" / "github.sh").read_text(encoding="utf-8").splitlines()
    start = next(
        number for number, line in enumerate(lines) if line.startswith("# The checkout is untrusted")
    )
    common = lines[start : lines.index("export POLICYKIT_CACHE_DIR=") + 1]
    (script,) = job_of(with_inputs(package="p"))["script"]
    assert len(common) > 10
    assert "\n".join(common) in script
