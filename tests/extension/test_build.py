"""An installation compiles only where it is asked to, and fails where it then cannot."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from policykit import __version__, extension
from tests.shared import ROOT

NO_COMPILER = "/nonexistent/cc"


def wheel(folder: Path, **variables: str) -> tuple[list[str], str]:
    """The wheels that a build with these variables makes, and what it says if it fails."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    inherited = {name: value for name, value in os.environ.items() if name != extension.VARIABLE}
    done = subprocess.run(
        command, cwd=ROOT, env={**inherited, **variables}, capture_output=True, text=True, check=False
    )
    names = sorted(path.name for path in folder.glob("*.whl"))
    assert bool(names) == (done.returncode == 0), done.stderr
    return names, done.stderr


@pytest.mark.parametrize("variables", [{}, {"POLICYKIT_EXTENSION": "0"}, {"POLICYKIT_EXTENSION": ""}])
def test_without_the_variable_nothing_is_compiled(tmp_path: Path, variables: dict[str, str]) -> None:
    names, _ = wheel(tmp_path, CC=NO_COMPILER, **variables)
    assert names == [f"policykit_k8s-{__version__}-py3-none-any.whl"]
    with zipfile.ZipFile(tmp_path / names[0]) as files:
        assert not [name for name in files.namelist() if name.endswith((".so", ".c", "LICENSE.libyaml"))]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"CC": NO_COMPILER}, "No such file or directory: '/nonexistent/cc'"),
        ({"CC": "false"}, "Without POLICYKIT_EXTENSION, policykit installs without any of these"),
        ({"CC": "cc -nostdinc"}, "No such file or directory"),
        ({"LDFLAGS": "-L/nonexistent -lnonexistent"}, "lnonexistent"),
        ({"POLICYKIT_EXTENSION": "yes"}, "POLICYKIT_EXTENSION is 'yes': use 1 to build the extension"),
    ],
)
def test_what_cannot_be_built_fails(tmp_path: Path, variables: dict[str, str], says: str) -> None:
    if shutil.which("cc") is None and "cc -" in variables.get("CC", ""):
        pytest.skip("there is no C compiler")
    names, said = wheel(tmp_path, **{"POLICYKIT_EXTENSION": "1", **variables})
    assert names == []
    assert says in said


def test_a_wheel_with_the_extension(tmp_path: Path) -> None:
    if not extension.compiled:
        pytest.skip("without the extension, or with POLICYKIT_EXTENSION=0")
    (name,), _ = wheel(tmp_path, POLICYKIT_EXTENSION="1")
    assert not name.endswith("-none-any.whl")
    with zipfile.ZipFile(tmp_path / name) as files:
        files.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked" / "policykit"
    assert sorted(path.name.partition(".")[0] for path in unpacked.rglob("*.so")) == ["_compiled"]
    assert "Kirill Simonov" in (unpacked / "_bundled" / "LICENSE.libyaml").read_text(encoding="utf-8")
    assert list(unpacked.rglob("*.c")) == []
    for value, says in (
        ("1", "extension: in use, with libyaml 0.2."),
        ("0", "extension: off: POLICYKIT_EXTENSION=0"),
    ):
        command = [sys.executable, "-m", "policykit", "--version", "--verbose"]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(unpacked.parent), "POLICYKIT_EXTENSION": value},
            capture_output=True,
            text=True,
            check=True,
        )
        assert says in done.stdout, shlex.join(command)
