"""Whoever can write to a cache changes what is reported, and nothing else: no code, no other file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import commit
from tests.shared import ROOT

HIDDEN = (ROOT / "tests" / "seeds" / "pod-gpu-affinity.yaml").read_text(encoding="utf-8")
BASE = "apiVersion: policykit.io/v1alpha1\nkind: Policy\nlint: {ignore: [PK801]}\n"
ROUNDS, SEED = (1_000, "") if os.environ.get("POLICYKIT_FUZZ") else (120, "1")
LINT = ["lint", "apps", "-p", "policykit.yaml", "--jobs", "1", "--cache-dir", "../cache", "--format"]
ONE = ["lint", "apps/inference-deployment.yaml", *LINT[2:]]
"""Of the other files, only the facts that a rule asks for are decoded."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Manifests that leave results, suppressions, facts and fixes; a folder beside it that nobody means."""
    folder = tmp_path / "repository"
    shutil.copytree(ROOT / "tests" / "seeds", folder / "apps")
    profile = (ROOT / "profiles" / "hybrid-volcano.yaml").read_text(encoding="utf-8")
    (folder / "policykit.yaml").write_text(f"{profile}extends: [base.yaml]\n", encoding="utf-8")
    (folder / "base.yaml").write_text(BASE, encoding="utf-8")
    (folder / "apps" / "large.yaml").write_text(f"# {'x' * 120_000}\n")
    (folder / "apps" / "hidden.yaml").write_text(f"# policykit: ignore[PK1, PK9] -- why\n{HIDDEN}")
    (folder / ".git").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.yaml").write_text("secret: yes\n")
    return folder


def watched(folder: Path, *lines: list[str], kind: str = "") -> dict[str, Any]:
    """What commands over tampered caches did outside of their work; `kind`: of the files to change."""
    seed = SEED or str(int.from_bytes(os.urandom(4), "big"))
    program = [sys.executable, str(ROOT / "tests" / "workspace" / "cache" / "hostile.py")]
    (folder.parent / "cache").mkdir(mode=0o700)
    done = subprocess.run(
        [*program, str(folder.parent / "cache"), seed, str(ROUNDS), json.dumps(lines), kind],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert sum(found["codes"].values()) == ROUNDS
    assert found["seen"] == {}, f"seed {seed}"
    # A policy that contradicts itself may end a run, as a failed one: nothing passes by it.
    assert [fault for fault in found["faults"] if not re.match(r"policy: \w+: 2: ", fault)] == []
    return found


@pytest.mark.parametrize("format_", ["text", "json", "sarif"])
def test_lint_of_a_tampered_cache(repository: Path, format_: str) -> None:
    found = watched(repository, [*LINT, format_], [*ONE, format_])
    assert {name.partition("-")[0] for name in found["kept"]} == {"policy", "results", "run"}
    assert found["codes"]["otherwise"], "results can be changed: nothing hides that"


def test_other_commands_with_a_tampered_policy(repository: Path) -> None:
    lines = [
        ["where", "apps", "--cache-dir", "../cache"],
        ["gen", "-o", "-", "--cache-dir", "../cache"],
        ["patch", "apps/inference-deployment.yaml", "--cache-dir", "../cache"],
    ]
    found = watched(repository, *lines)
    assert [name.partition("-")[0] for name in found["kept"]] == ["policy"]


def test_hooks_with_a_tampered_run(repository: Path) -> None:
    """What they go on from: the files of the last run, what it asked, and what it found."""
    (repository / ".git").rmdir()
    (repository / "apps" / "hidden.yaml").unlink()  # runs with suppressions are not kept
    (repository / "apps" / "edited.yaml").write_text(HIDDEN, encoding="utf-8")
    commit(repository)
    found = watched(
        repository, ["lint", "--hook", "apps/edited.yaml", "--cache-dir", "../cache"], kind="kept"
    )
    assert [name.partition("-")[0] for name in found["kept"]] == ["kept"]
    assert found["codes"]["otherwise"], "what a run goes on from can be changed: nothing hides that"
