"""Unified diffs that other tools apply."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from policykit.formats.diff import diff

TEXTS = {
    "a line more": ("a\nb\n", "a\nx\nb\n"),
    "no ending before": ("a", "a\nb\n"),
    "no ending after": ("a\n", "b"),
    "no ending on either side": ("a\nb", "x\nb"),
    "carriage returns": ("a\r\nb\r\n", "a\r\nc\r\n"),
    "other separators stay within a line": ("a\u2028b\x0cc\n", "a\u2028b\x0cd\n"),
    "everything goes": ("a\n", ""),
}


def test_nothing_differs() -> None:
    assert diff("a.yaml", "a\n", "a\n") == ""


@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_git_applies_it(tmp_path: Path, before: str, after: str) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    (tmp_path / "a.yaml").write_bytes(before.encode())
    change = diff("a.yaml", before, after)
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=change.encode(), check=True
    )
    assert (tmp_path / "a.yaml").read_bytes() == after.encode()
