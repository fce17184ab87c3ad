"""Unified diffs that other tools apply."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from policykit.escape import one_line
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


def apply(change: str, folder: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    given = change.encode("utf-8", errors="surrogateescape")
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=given, check=True)


@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_git_applies_it(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "a.yaml").write_bytes(before.encode())
    apply(diff("a.yaml", before, after), tmp_path)
    assert (tmp_path / "a.yaml").read_bytes() == after.encode()


NAMES = [
    "a b.yaml",
    "节点.yaml",
    "a\nb",
    "a\tb",
    "\x1b[31m",
    'a"b',
    "a\\b",
    "##[error]x",
    "x\u2028\u202ey",
    "\udcff",
]


@pytest.mark.parametrize("name", NAMES)
def test_git_applies_it_to_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n")
    change = diff(name, "a\n", "b\n")
    first, second, *_ = change.split("\n")
    assert one_line(first) == first
    assert one_line(second) == second
    apply(change, tmp_path)
    assert (tmp_path / name).read_text() == "b\n"
