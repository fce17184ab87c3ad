"""The GitLab component: valid by the schema, its script run, and no input a part of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packages.hostile import QUOTA
from tests.packages.template import INPUTS, JOBS, USED, accepts, job_of, with_inputs
from tests.packages.vendored import valid
from tests.shared import ROOT
from tests.tools import policykit_on_path

VALUES = [
    "apps charts",
    " apps",
    "it's",
    '"apps"',
    'a" b: c',
    "a # b",
    "# a",
    "- a",
    "{a: b}",
    "*a &b !c %d @e |f >g",
    "$(touch stolen)",
    "`touch stolen`",
    "a; touch stolen",
    "a && touch stolen || touch stolen",
    "a > stolen",
    "\\",
    "$[[ inputs.paths ]]",
    "--output=stolen.yaml",
]
"""What a value of one line may be."""
BREAKS = ["\n", "\r", "\x85", "\u2028", "\u2029", "\0", "\t", "\x1b"]


def test_valid_by_the_schema(tmp_path: Path) -> None:
    assert set(USED.findall(JOBS)) == INPUTS.keys()
    (tmp_path / "jobs.yml").write_text(yaml.safe_dump(with_inputs(package="p")), encoding="utf-8")
    valid("gitlab-ci", tmp_path / "jobs.yml")


def test_who_includes_it_says_what_is_installed() -> None:
    assert [name for name, about in INPUTS.items() if "default" not in about] == ["package"]


def test_defaults_are_accepted() -> None:
    assert all(accepts(name, about["default"]) for name, about in INPUTS.items() if "default" in about)


@pytest.mark.parametrize("text", ["script: a", "a\nscript: b", *(f"a{mark}b" for mark in BREAKS[2:])])
def test_stages_and_images_are_words(text: str) -> None:
    assert not accepts("stage", text)
    assert not accepts("image", text)


@pytest.mark.parametrize("name", ["paths", "options", "package"])
@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
def test_values_are_one_line(name: str, mark: str) -> None:
    for text in (f"a{mark}b", f"a{mark}", f"{mark}b", f"a\n{mark}"):
        assert not accepts(name, text)


@pytest.mark.parametrize("value", VALUES)
def test_no_value_becomes_a_part_of_the_job(value: str) -> None:
    usual = job_of(with_inputs(package="p"))
    assert all(accepts(name, value) for name in ("paths", "options", "package"))
    job = job_of(with_inputs(paths=value, options=value, package=value))
    named = ("POLICYKIT_PATHS", "POLICYKIT_OPTIONS", "POLICYKIT_PACKAGE")
    assert [job["variables"][name] for name in named] == [value.strip()] * 3
    assert {**job, "variables": {}} == {**usual, "variables": {}}


def linted(folder: Path, **inputs: str) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """The job's last lines, those after the installation, in a folder with a manifest."""
    job = job_of(with_inputs(package=str(ROOT), **inputs))
    (script,) = job["script"]
    work = folder / "work"
    (work / ".git").mkdir(parents=True)
    (work / "quota.yaml").write_text(QUOTA, encoding="utf-8")
    programs = folder / "own" / "venv" / "bin"
    programs.mkdir(parents=True)
    path = policykit_on_path(folder / "bin")
    (programs / "python").write_text(f'#!/bin/sh\nshift 3\nexec "{folder}/bin/policykit" "$@"\n')
    (programs / "python").chmod(0o755)
    last = f"set -f\ncheckout='{work}' own='{folder}/own'\n" + script[script.index('cd "$checkout"') :]
    done = subprocess.run(
        [shutil.which("sh") or "sh", "-ec", last],
        cwd=work,
        env={"PATH": path, **job["variables"]},
        capture_output=True,
        text=True,
        check=False,
    )
    return job, done


def test_its_command_leaves_the_reports_it_names(tmp_path: Path) -> None:
    job, done = linted(tmp_path)
    assert done.returncode == 1, done.stderr
    reports = job["artifacts"]["reports"]
    (entry,) = json.loads((tmp_path / "work" / reports["codequality"]).read_text(encoding="utf-8"))
    assert entry["location"] == {"path": "quota.yaml", "lines": {"begin": 4}}
    assert 'failures="1"' in (tmp_path / "work" / reports["junit"]).read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [value for value in VALUES if not value.startswith(" ")])
def test_names_in_paths_are_names(tmp_path: Path, value: str) -> None:
    _, done = linted(tmp_path, paths=value)
    assert done.returncode == 2
    for name in value.split():
        assert name == "-" or f"policykit: {name}: " in done.stderr, done.stderr
    assert not (tmp_path / "work" / "stolen").exists()
    assert not (tmp_path / "work" / "stolen.yaml").exists()


def test_several_options(tmp_path: Path) -> None:
    _, done = linted(tmp_path, options="--ignore PK206  --fail-on error")
    assert (done.returncode, done.stdout) == (0, "")
