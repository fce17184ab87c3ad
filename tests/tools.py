"""Programs of others that tests run where they are there: kustomize, Helm."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.shared import ROOT

_FOLDERS = (ROOT / ".venv" / "tools", Path.home() / "go" / "bin")


def tool(name: str) -> str:
    """Path of kustomize, helm3 or helm4; the test is skipped where there is none.

    Looked for on PATH, in `.venv/tools` and where `go install` puts programs. They are not
    built here: that takes minutes.
    """
    path = found(name)
    if not path:
        pytest.skip(f"{name} is not installed: `sh tests/tools.sh .venv/tools` builds it")
    return path


@cache
def found(name: str) -> str:
    """Path of a tool, empty where there is none."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, _FOLDERS)])
    there = shutil.which(name, path=path)
    if there or not name.startswith("helm"):
        return there or ""
    plain = shutil.which("helm", path=path)
    said = subprocess.run([plain, "version", "--short"], capture_output=True, check=False) if plain else None
    return plain if plain and said and said.stdout.startswith(f"v{name[-1]}".encode()) else ""


def policykit_on_path(folder: Path) -> str:
    """A PATH on which `policykit` is this checkout, through a script written to `folder`."""
    folder.mkdir(exist_ok=True)
    script = folder / "policykit"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m policykit "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
