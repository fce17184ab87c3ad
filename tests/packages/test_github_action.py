"""The GitHub Action: valid by its schema, and its script run as a runner runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.commands import commit
from tests.packages.hostile import QUOTA
from tests.packages.vendored import valid
from tests.shared import ROOT


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


def test_valid_by_the_schema() -> None:
    valid("github-actions", ROOT / "action.yml")


def test_the_script_reads_every_input() -> None:
    step = action()["runs"]["steps"][0]
    script = (ROOT / "ci" / "github.sh").read_text(encoding="utf-8")
    for variable, value in step["env"].items():
        assert variable in script
        assert value.removeprefix("${{ inputs.").removesuffix(" }}") in action()["inputs"]
    assert len(step["env"]) == len(action()["inputs"])
    for output in action()["outputs"]:
        assert f'"{output}=' in script


@pytest.fixture
def job(tmp_path: Path, index: dict[str, str]) -> dict[str, str]:
    """Variables of a job in a folder with a manifest."""
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").mkdir()
    (work / "quota.yaml").write_text(QUOTA, encoding="utf-8")
    for name in ("output", "summary"):
        (tmp_path / name).touch()
    return {
        **index,
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RUNNER_TEMP": str(tmp_path),
        "PYTHON": sys.executable,
        "POLICYKIT_PATHS": ".",
        "POLICYKIT_POLICY": "",
        "POLICYKIT_ARGS": "",
        "POLICYKIT_CHECK_GENERATED": "false",
        "POLICYKIT_SARIF": "policykit.sarif",
    }


def run(job: dict[str, str], **inputs: str) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    step = [bash, str(ROOT / "ci" / "github.sh")]
    work = Path(job["RUNNER_TEMP"]) / "work"
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        step, cwd=work, env={**variables, **job, **inputs}, capture_output=True, text=True, check=False
    )


def outputs(job: dict[str, str]) -> dict[str, str]:
    text = Path(job["GITHUB_OUTPUT"]).read_text(encoding="utf-8")
    return dict(line.split("=", 1) for line in text.splitlines())


def test_findings_fail_the_step(job: dict[str, str]) -> None:
    done = run(job)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=quota.yaml,line=4,endLine=4,col=15,")
    left = outputs(job)
    assert left.keys() == {"findings", "plan", "sarif"}
    assert left["findings"] == "1"
    assert Path(job["GITHUB_STEP_SUMMARY"]).read_text().startswith("### policykit\n\n1 error\n")
    sarif = Path(left["sarif"])
    assert (sarif.name, sarif.parent.parent) == ("policykit.sarif", Path(job["RUNNER_TEMP"]))
    written = json.loads(sarif.read_text(encoding="utf-8"))
    assert written["runs"][0]["results"][0]["ruleId"] == "PK206"


def test_a_clean_folder_passes(job: dict[str, str]) -> None:
    done = run(job, POLICYKIT_ARGS="--ignore PK206", POLICYKIT_SARIF="")
    assert done.returncode == 0, done.stderr
    assert outputs(job) == {"findings": "0", "plan": "", "sarif": ""}


def test_drift_fails_the_step_too(job: dict[str, str]) -> None:
    policy = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: a}\n"
    work = Path(job["RUNNER_TEMP"]) / "work"
    (work / "quota.yaml").unlink()
    (work / "policykit.yaml").write_text(policy + "queues: {a: {}}\ngenerate: {out: out}\n", encoding="utf-8")
    assert run(job, POLICYKIT_CHECK_GENERATED="true").returncode == 1


def test_the_plan_is_a_file_and_in_the_summary(job: dict[str, str]) -> None:
    """It posts nothing, and a change that needs more than a merge fails nothing."""
    policy = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nmetadata: {name: a}\ndomain: DOMAIN\n"
    pools = "pools: {train: {usage: training, nodes: {names: [n1]}}}\n"
    work = Path(job["RUNNER_TEMP"]) / "work"
    (work / "quota.yaml").unlink()
    (work / "policykit.yaml").write_text(policy.replace("DOMAIN", "a.example.com") + pools)
    commit(work)
    (work / "policykit.yaml").write_text(policy.replace("DOMAIN", "b.example.com") + pools)
    done = run(job, POLICYKIT_PLAN="true")
    assert done.returncode == 0, done.stderr
    shown = Path(outputs(job)["plan"]).read_text(encoding="utf-8")
    assert shown.startswith("### policykit plan: `a`\n")
    assert shown in Path(job["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert run(job, POLICYKIT_PLAN="true", GITHUB_BASE_REF="nope").returncode == 2


def test_an_old_python_is_told(job: dict[str, str], tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2"\nexit 1\n')
    old.chmod(0o755)
    done = run(job, PYTHON=str(old))
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=policykit::Python 3.9.2 is too old")


def test_names_in_inputs_are_names(job: dict[str, str]) -> None:
    """Separated by any white space; no name is a pattern, an option, or a command."""
    given = "--output=a.yaml *\n$(touch${IFS}b.yaml) `touch${IFS}b.yaml` ;touch${IFS}b.yaml\tit's \"c"
    done = run(job, POLICYKIT_PATHS=given)
    assert done.returncode == 2
    for name in given.split():
        assert f"policykit: {name}: " in done.stderr, name
    work = Path(job["RUNNER_TEMP"]) / "work"
    assert sorted(path.name for path in work.iterdir()) == [".git", "quota.yaml"]


@pytest.mark.parametrize(
    "name",
    ["a\nfindings=0", "a\r::set-env::", "../a", "/a", "a/b", "..", ".git", "-a", "a b", "$(touch a)", "a*"],
)
def test_the_sarif_file_is_a_plain_name(job: dict[str, str], name: str) -> None:
    done = run(job, POLICYKIT_SARIF=name)
    message = (
        "::error title=policykit::the input sarif must be a file name without folders: "
        "letters, digits, dots, underscores and dashes\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, message, "")
    assert outputs(job) == {}
