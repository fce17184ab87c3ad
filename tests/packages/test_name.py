"""The name: what installers know this package by, wherever it is written, and addresses that are not ours."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator

import pytest

from policykit import DISTRIBUTION
from tests.shared import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OTHERS = re.compile(
    r"""
    \b (?: uvx | (?: pip[3x]? | uv(?:\ tool|\ pip)? | poetry )\ (?: install | download | wheel | run | add ) )
        \b [^\n`;&|]*?
        (?<= [\s"'=] ) policykit (?= [\s"'`=<>~!\[;,] | $ )   # the other project's name, as a requirement
    | (?<! [\w./-] ) policykit \[                              # with extras
    """,
    re.VERBOSE | re.MULTILINE,
)
EXAMPLE = re.compile(r"git\.example\.com|\bplatform/policykit@|\bpolicykit\b.*\bv\d+\.\d+\.\d+")


def tracked() -> Iterator[tuple[str, str]]:
    """(name, text) of each file of the repository."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in names:
        if name and (ROOT / name).is_file():
            yield name, (ROOT / name).read_text(encoding="utf-8", errors="replace")


def test_one_name() -> None:
    assert PROJECT["name"] == DISTRIBUTION == "policykit-k8s"
    entry = "policykit.__main__:entry"
    assert PROJECT["scripts"] == {"policykit": entry, "kubectl-policykit": entry}


def test_nothing_installs_the_other_project() -> None:
    found = [
        f"{name}: {match[0]}"
        for name, text in tracked()
        if not name.endswith("tests/packages/test_name.py")
        for match in OTHERS.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install policykit",
        "pip3 install -U policykit==0.1",
        "python -m pip install --user 'policykit>=1'",
        "pipx install policykit",
        "pipx run policykit lint",
        "uvx policykit lint",
        "uv tool install policykit",
        "pip download --no-deps policykit",
        "pip install 'policykit[lsp]'",
        "policykit[lsp]",
        '"policykit[lsp]>=1"',
    ],
)
def test_what_would_install_the_other_project(text: str) -> None:
    assert OTHERS.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install policykit-k8s",
        "pip install 'policykit-k8s[lsp]'",
        "pip install 'policykit-k8s @ git+https://git.example.com/platform/policykit@v0.1.0'",
        "pip install .",
        "pip install dist/policykit_k8s-0.1.0-py3-none-any.whl",
        "pip install .\npolicykit lint",
        "pip install . && policykit lint",
        "install policykit and run it",
        "install policykit.yaml",
    ],
)
def test_what_installs_this_one(text: str) -> None:
    assert not OTHERS.search(text)


def test_addresses_and_tags_that_are_not_there_are_said_to_stand_for_yours() -> None:
    """On the line itself, or within the three lines above it."""
    silent = []
    for name, text in tracked():
        if not name.startswith(("README", "docs/", "examples/", "templates/", "action.yml", "Containerfile")):
            continue
        lines = text.splitlines()
        for number, line in enumerate(lines):
            near = " ".join(lines[max(0, number - 3) : number + 1])
            if EXAMPLE.search(line) and "your" not in near:
                silent.append(f"{name}:{number + 1}: {line}")
    assert silent == []
