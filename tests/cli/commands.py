"""Runs commands inside the test process, or as a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from policykit.__main__ import answer
from tests.shared import ROOT


class Result(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


class Shell:
    """A folder with files, and commands run in it."""

    def __init__(
        self, folder: Path, capture: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self._capture = capture
        self._monkeypatch = monkeypatch
        (folder / ".git").mkdir()
        monkeypatch.chdir(folder)

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def cd(self, folder: str) -> None:
        self._monkeypatch.chdir(self.folder / folder)

    def run(self, *words: str) -> Result:
        code = answer(words)
        out, err = self._capture.readouterr()
        return Result(code, out.decode(), err.decode())


def process(*words: str, cwd: Path, stdin: bytes | None = None, **environment: str) -> Result:
    """The command as a process of its own: for standard input, locales and hash seeds."""
    done = subprocess.run(
        [sys.executable, "-m", "policykit", *words],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def commit(folder: Path, *paths: str) -> str:
    """Commits everything in a folder, or these files of it, as its repository; returns the commit."""
    who = {
        f"GIT_{role}_{what}": "x@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **who}

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,
            env={**os.environ, **quiet},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A", "--", *paths)
    git("commit", "-q", "--allow-empty", "-m", "x")
    return git("rev-parse", "HEAD")
