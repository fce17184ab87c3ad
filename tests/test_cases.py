"""Small files from outside, in `shared/cases`: what is right stays without an error."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policykit import bundled
from tests.cli.commands import Shell
from tests.shared import SHARED
from tests.tools import tool

CASES = SHARED / "cases" if SHARED else Path("cases")
PROFILES = tuple(f"profile:{name}" for name in bundled.names("profiles", suffix=".yaml"))
GKE = "gke-policy.yaml"
"""What is not right yet, and why."""
OPEN: dict[str, Any] = {}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="shared/cases is not beside this checkout")


def policies(name: str) -> tuple[str, ...]:
    """The policies that a case of this name is right under; the empty one: none."""
    return ("", GKE) if name.startswith("gke-") else ("", *PROFILES)


def quiet() -> Iterator[Any]:
    for case in sorted((CASES / "quiet").glob("*")):
        for policy in policies(case.name):
            for built in (False, True) if case.is_dir() else (False,):
                parts = (case.name, policy or "no policy", *(["kustomize"] if built else []))
                yield pytest.param(case, policy, built, id=" ".join(parts), marks=OPEN.get(case.name, ()))


@pytest.fixture
def shell(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    return Shell(tmp_path, capfdbinary, monkeypatch)


def lint(shell: Shell, case: Path, policy: str, *more: str) -> list[dict[str, Any]]:
    """The findings in a copy of a case."""
    there = shell.folder / case.name
    if case.is_dir():
        shutil.copytree(case, there)
    else:
        shutil.copy(case, there)
    if policy == GKE:
        shutil.copy(CASES / GKE, shell.folder / GKE)
    options = ("-p", policy) if policy else ()
    said = shell.run("lint", case.name, *options, "--no-cache", "--format", "json", *more)
    assert said.code in (0, 1), said.err
    findings: list[dict[str, Any]] = json.loads(said.out)["findings"]
    return findings


@pytest.mark.parametrize(("case", "policy", "built"), list(quiet()))
def test_what_is_right_has_no_error(
    case: Path, policy: str, built: bool, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    if built:
        folder = os.path.dirname(tool("kustomize"))
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    found = lint(shell, case, policy, *(() if built else ("--kustomize", "never")))
    assert [f"{one['path']}:{one['line']} {one['code']}" for one in found if one["severity"] == "error"] == []
