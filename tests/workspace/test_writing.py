"""Replacing files whole: all or nothing, modes kept, nothing left behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from policykit.errors import SourceError
from policykit.workspace.safe_paths import output
from policykit.workspace.writing import is_leftover, replace_all
from tests.shared import ROOT


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_files_are_made_and_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    replace_all({output(str(tmp_path / "a")): b"new", output(str(tmp_path / "b/c/d")): b"\xff\x00"})
    assert tree(tmp_path) == {"a": b"new", "b/c/d": b"\xff\x00"}


def test_nothing_to_write(tmp_path: Path) -> None:
    replace_all({})
    assert tree(tmp_path) == {}


def test_a_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_all({output("a"): b"1"})
    assert tree(tmp_path) == {"a": b"1"}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o664])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_all({output(str(path)): b"new"})
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_what_the_umask_leaves(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        replace_all({output(str(tmp_path / "a")): b""})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 5678)
    replace_all({output(str(path)): b"new"})
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("read-only", "the file is read-only"),
        ("file/below", "a file exists where its folder should be"),
        ("folder", "it is a folder"),
        ("n" * 300, "File name too long"),
    ],
    ids=["read-only", "below a file", "folder", "too long"],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_one_that_cannot_be_written_leaves_all_as_they_were(
    tmp_path: Path, bad: str, says: str, first: bool
) -> None:
    for name in ("a", "read-only", "file"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "read-only").chmod(0o444)
    (tmp_path / "folder/x").mkdir(parents=True)
    before = tree(tmp_path)
    names = [bad, "a", "new/b"] if first else ["a", "new/b", bad]
    with pytest.raises(SourceError) as raised:
        replace_all({output(str(tmp_path / name)): b"new" for name in names})
    assert raised.value.place == str(tmp_path / bad)
    assert raised.value.message == f"cannot be written: {says}"
    assert tree(tmp_path) == before


FULL = """
import os, resource, sys
from policykit.errors import SourceError
from policykit.workspace.safe_paths import output
from policykit.workspace.writing import replace_all
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_all({output("a"): b"1" * 900, output("b"): b"2" * 1100, output("c"): b"3"})
except SourceError as error:
    print(error)
"""


def test_a_disk_that_fills_up_leaves_all_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        done.stdout
        == "b: cannot be written: File too large\n  help: free some disk space, then run it again\n"
    )
    assert tree(tmp_path) == {"a": b"old", "b": b"old"}


@pytest.mark.parametrize(
    ("name", "leftover"),
    [
        (".policykit-0123456789abcdef.tmp", True),
        (".policykit-settings.tmp", False),
        (".policykit-0123456789abcdef", False),
        (".policykit-0123456789abcdef.tmp.yaml", False),
        ("policykit.yaml", False),
    ],
)
def test_leftovers_are_known_by_name(name: str, leftover: bool) -> None:
    assert is_leftover(name) is leftover
