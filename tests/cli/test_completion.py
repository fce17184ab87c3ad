"""`policykit completion`, and what the shells complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policykit import bundled
from policykit.cli import COMMANDS
from tests.cli.commands import Shell
from tests.shared import ROOT


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: Shell, shell_name: str) -> None:
    result = shell.run("completion", shell_name)
    assert (result.code, result.err) == (0, "")
    assert f"_POLICYKIT_COMPLETE={shell_name}_complete" in result.out


def test_another_shell(shell: Shell) -> None:
    result = shell.run("completion", "tcsh")
    assert (result.code, result.out) == (2, "")
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.err


def completed(folder: Path, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "_POLICYKIT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("policykit", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "policykit"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_what_is_completed(tmp_path: Path) -> None:
    assert completed(tmp_path, "") == list(COMMANDS)
    assert completed(tmp_path, "ba") == ["baseline"]
    assert completed(tmp_path, "lint", "--unsafe") == ["--unsafe-fixes"]
    assert completed(tmp_path, "lint", "--preset", "") == ["minimal", "recommended", "strict"]
    assert completed(tmp_path, "explain", "PK10") == [f"PK10{n}" for n in range(1, 10)]
    assert completed(tmp_path, "explain", "missing-u") == ["missing-usage-affinity"]
    assert completed(tmp_path, "init", "--profile", "") == list(bundled.names("profiles", suffix=".yaml"))
