"""The pre-commit hooks: their command lines are ones that policykit takes, and do what their names say."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.shared import ROOT

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}

CLUSTER = (
    "apiVersion: policykit.io/v1alpha1\nkind: Policy\nextends: [profile:hybrid-volcano]\n"
    "generate: {out: generated}\n"
)


def run(hook: str, *more: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(HOOKS[hook]["entry"])
    assert program == "policykit"
    return subprocess.run(
        [sys.executable, "-m", "policykit", *arguments, *more],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_hooks() -> None:
    assert list(HOOKS) == ["policykit-lint", "policykit-gen-check"]


@pytest.mark.parametrize("hook", HOOKS)
def test_the_command_line_is_known(hook: str) -> None:
    assert run(hook, "--help").returncode == 0
    assert run(hook, "--no-such-option", "--help").returncode == 2


@pytest.mark.parametrize("hook", HOOKS)
def test_keys(hook: str) -> None:
    entry = HOOKS[hook]
    assert entry["language"] == "python"
    assert entry["minimum_pre_commit_version"] == "2.9.2"
    assert entry["name"]
    assert entry["description"]


def test_lint_takes_the_files_of_a_commit_together() -> None:
    entry = HOOKS["policykit-lint"]
    assert entry["types_or"] == ["yaml", "json"]
    assert entry["require_serial"] is True
    clean = run("policykit-lint", "examples/apps/finetune.yaml", "examples/apps/portal.yaml")
    assert (clean.returncode, clean.stdout) == (0, "")
    wrong = run("policykit-lint", "examples/apps/finetune.yaml", "examples/apps/quota.yaml")
    assert wrong.returncode == 1
    assert wrong.stdout.startswith("examples/apps/quota.yaml:9:5: PK206 ")


def test_lint_leaves_out_what_the_policy_excludes(tmp_path: Path) -> None:
    (tmp_path / "policykit.yaml").write_text(CLUSTER + 'lint: {exclude: ["legacy/**"]}\n', encoding="utf-8")
    (tmp_path / "legacy").mkdir()
    shutil.copy(ROOT / "examples" / "apps" / "quota.yaml", tmp_path / "legacy")
    done = run("policykit-lint", "legacy/quota.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_gen_check_holds_every_policy_to_its_folder(tmp_path: Path) -> None:
    entry = HOOKS["policykit-gen-check"]
    assert entry["pass_filenames"] is False
    assert entry["always_run"] is True
    (tmp_path / ".git").mkdir()
    for name in ("prod", "dev"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policykit.yaml").write_text(CLUSTER, encoding="utf-8")
    assert run("policykit-gen-check", cwd=tmp_path).returncode == 1
    written = subprocess.run(
        [sys.executable, "-m", "policykit", "gen", "--all"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert written.returncode == 0, written.stderr
    assert run("policykit-gen-check", cwd=tmp_path / "dev").returncode == 0
    edited = tmp_path / "prod" / "generated" / "volcano" / "values.yaml"
    edited.write_text(edited.read_text(encoding="utf-8") + "# by hand\n", encoding="utf-8")
    drift = run("policykit-gen-check", cwd=tmp_path)
    assert drift.returncode == 1
    assert "prod/generated/volcano/values.yaml: differs" in drift.stderr
