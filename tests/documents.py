"""Documents that show commands: their blocks, and what those commands print now."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests import tools
from tests.shared import ROOT

TOOLS = ("kustomize", "helm3", "helm4")
"""Programs of others that documents may show; a block that needs one says `needs=kustomize`."""


class Block(NamedTuple):
    """A fenced block: the words after the fence, and its lines."""

    words: list[str]
    text: str
    start: int
    """Where `text` begins in the document."""


def blocks(document: Path, language: str) -> list[Block]:
    """The blocks of a language, in order."""
    text = document.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(m[2].split(), m[3], m.start(3)) for m in found if m[1] == language]


def rewrite(document: Path, texts: Mapping[int, str], old: Sequence[Block]) -> None:
    """Replaces blocks by their start, from the end backwards."""
    text = document.read_text(encoding="utf-8")
    for block in sorted(old, key=lambda block: block.start, reverse=True):
        text = text[: block.start] + texts[block.start] + text[block.start + len(block.text) :]
    document.write_text(text, encoding="utf-8")


class Terminal:
    """Runs the `$ ` lines of blocks in one folder, with `policykit` and stand-ins on the path."""

    def __init__(
        self, folder: Path, stand_ins: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """`stand_ins`: a folder of shell scripts that answer in place of commands, and their data."""
        self.folder = folder
        self._code = 0
        commands = folder.parent / f"{folder.name}-commands"
        commands.mkdir()
        scripts = {"policykit": f'exec "{sys.executable}" -m policykit "$@"\n'}
        for path in stand_ins.iterdir() if stand_ins and stand_ins.is_dir() else ():
            if not path.suffix:
                scripts[path.name] = path.read_text(encoding="utf-8")
        for name, script in scripts.items():
            (commands / name).write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
            (commands / name).chmod(0o755)
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C.UTF-8"}
        author = {
            f"GIT_{who}_{what}": "test@example.com" if what == "EMAIL" else "Test"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        for name in TOOLS:
            if tools.found(name):
                (commands / name).symlink_to(tools.found(name))
        search = f"{commands}{os.pathsep}{os.environ['PATH']}"
        own = {"PATH": search, "PYTHONPATH": str(ROOT), "STAND_INS": str(stand_ins)}
        self._environment = {**os.environ, **quiet, **author, **own, **(environment or {})}

    def session(self, block: str) -> str:
        """The block as the terminal shows it now: each command with what it prints."""
        shown = []
        for line in block.splitlines():
            if line.startswith("$ "):
                shown.append(f"{line}\n{self._run(line[2:])}")
        return "".join(shown)

    def _run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self._code}\n"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self._code = done.returncode
        assert done.returncode in (0, 1, 2), f"{command}: {done.stdout}"
        assert "internal error" not in done.stdout
        return done.stdout
