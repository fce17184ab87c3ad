"""Commands print the same bytes with and without the extension."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policykit.extension import compiled
from scripts.bench import write_tree
from tests.shared import ROOT, SHARED

pytestmark = pytest.mark.skipif(not compiled, reason="without the extension, or with POLICYKIT_EXTENSION=0")

Printed = tuple[int, bytes, bytes]
POLICY = ("-p", "profile:hybrid-volcano")
COMMANDS = {
    "lint": ("lint", "--format", "json", "--show-files"),
    "lint with a policy": ("lint", "--select", "ALL", *POLICY),
    "fixes": ("lint", "--unsafe-fixes", "--diff", *POLICY),
    "where": ("where", "--format", "json", *POLICY),
}


def printed(words: tuple[str, ...], folder: Path, with_extension: bool) -> Printed:
    """What a command prints in a folder, and its exit code."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "1" if with_extension else "2",
        "POLICYKIT_EXTENSION": "1" if with_extension else "0",
    }
    done = subprocess.run(
        [sys.executable, "-m", "policykit", *words],
        cwd=folder,
        env=variables,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def assert_same(words: tuple[str, ...], folder: Path) -> None:
    with_it = printed(words, folder, True)
    assert with_it == printed(words, folder, False)
    assert with_it[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_corpus(command: str) -> None:
    if SHARED is None:
        pytest.skip("there is no folder shared")
    assert_same((*COMMANDS[command], "corpus", "cases", "seeds"), SHARED)


@pytest.mark.parametrize("command", COMMANDS)
def test_files_of_the_repository(command: str) -> None:
    assert_same((*COMMANDS[command], "examples/apps", "tests/golden", "tests/rules"), ROOT)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_tree_that_is_measured(tmp_path: Path, command: str) -> None:
    write_tree(str(tmp_path), 140)
    assert_same((*COMMANDS[command], "."), tmp_path)


def test_each_command_uses_what_it_is_told() -> None:
    shown = {value: printed(("--version", "--verbose"), ROOT, value)[1] for value in (True, False)}
    assert b"extension: in use" in shown[True]
    assert b"extension: off" in shown[False]
