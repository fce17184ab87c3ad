"""The files of a git revision."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from policykit.workspace.git import commit_of, contents, entries, top_of, write_revision

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(folder: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **GIT},
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.yaml").write_bytes(b"a: 1\r\n")
    (folder / "below").mkdir()
    (folder / "below" / "\u00e9 x.txt").write_bytes(b"\0\xff")
    (folder / "link.yaml").symlink_to("a.yaml")
    (folder / "out.yaml").symlink_to("/etc/passwd")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return folder


def test_the_files_are_written_as_git_has_them(repository: Path, tmp_path: Path) -> None:
    root = top_of(str(repository))
    (repository / "a.yaml").write_bytes(b"a: 2\n")
    there = tmp_path / "there"
    names = write_revision(root, commit_of("HEAD", root), str(there))
    assert names == {"a.yaml", "below/\u00e9 x.txt", "link.yaml", "out.yaml"}
    assert (there / "a.yaml").read_bytes() == b"a: 1\r\n"
    assert (there / "below" / "\u00e9 x.txt").read_bytes() == b"\0\xff"
    assert os.readlink(there / "link.yaml") == "a.yaml"
    assert not os.path.lexists(there / "out.yaml")
    assert sorted(os.listdir(there / ".git")) == ["HEAD", "config", "objects", "refs"]
    assert (there / ".git" / "config").read_text() == ""


def test_contents_are_read_in_parts(repository: Path) -> None:
    root = top_of(str(repository))
    every = [one for one in entries(root, "HEAD") if one.path == "a.yaml"] * 1200
    assert [raw for _, raw in contents(root, every)] == [b"a: 1\r\n"] * 1200


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_no_name_of_a_commit_leads_out_of_the_folder(repository: Path, tmp_path: Path, name: str) -> None:
    """Such a tree can be made with hash-object and pushed where nobody checks."""
    blob = git(repository, "hash-object", "-w", "--stdin", given="a: 1\n")
    inner = git(repository, "mktree", given=f"100644 blob {blob}\tb.yaml\n")
    raw = b"40000 " + name.encode() + b"\0" + bytes.fromhex(inner)
    (tmp_path / "raw").write_bytes(raw)
    tree = git(repository, "hash-object", "-w", "-t", "tree", "--literally", str(tmp_path / "raw"))
    commit = git(repository, "commit-tree", tree, "-m", "x")
    assert entries(top_of(str(repository)), commit) == []
