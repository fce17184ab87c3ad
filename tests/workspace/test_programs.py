"""Programs of others are looked for on PATH, and never in the current folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from policykit.workspace.programs import program_path, run


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `tool` in bin, another in the current folder and in one below it."""
    for folder in ("bin", "checkout", "checkout/bin"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").touch(mode=0o755)
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path


@pytest.mark.parametrize(
    "path", ["BIN", ".:BIN", ":BIN", "BIN:", "bin:BIN", "./bin:..:BIN", "../checkout::BIN"]
)
def test_relative_entries_of_path_are_passed_over(
    folders: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path.replace("BIN", str(folders / "bin")).replace(":", os.pathsep))
    assert program_path("tool") == str(folders / "bin" / "tool")


@pytest.mark.parametrize("path", ["", ".", "bin", ":", ".:bin:"])
def test_there_may_be_none(folders: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path.replace(":", os.pathsep))
    assert program_path("tool") == ""


def test_without_path_the_usual_folders_are_looked_into(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PATH")
    assert program_path("sh") in {os.path.join(folder, "sh") for folder in os.defpath.split(os.pathsep)}
    assert program_path("tool") == ""


def test_programs_that_take_too_long_are_stopped(tmp_path: Path) -> None:
    """With the programs that they run, which keep the pipes open."""
    child = (
        f"import subprocess, sys; subprocess.run([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])"
    )
    start = time.monotonic()
    found = run([sys.executable, "-c", child], os.environ, 0.5, str(tmp_path))
    assert found.late
    assert time.monotonic() - start < 30
