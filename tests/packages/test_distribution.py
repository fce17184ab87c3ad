"""The wheel and the sdist: built twice the same, and with exactly the files that belong in them."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from policykit import __version__
from scripts.release import build_twice
from tests.shared import ROOT

EPOCH = 1_800_000_000
NAME = f"policykit_k8s-{__version__}"


class Built(NamedTuple):
    """Names of the files in each."""

    wheel: set[str]
    sdist: set[str]


def sources() -> set[str]:
    """What git knows of, and what it does not ignore."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


def copy(into: Path) -> Path:
    for name in sources():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, into / name)
    return into


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built from two copies in different folders, with other times and modes, and with stray files."""
    work = tmp_path_factory.mktemp("distribution")
    first, second = copy(work / "first"), copy(work / "a folder of another name")
    (second / "policykit" / "api.py").chmod(0o664)
    for stray in (
        "notes.txt",
        "scratch/policykit/old.py",
        "policykit/__pycache__/api.cpython-313.pyc",
        "policykit/_compiled.cpython-313-x86_64-linux-gnu.so",
    ):
        (second / stray).parent.mkdir(parents=True, exist_ok=True)
        (second / stray).write_text("stray\n")
    wheel, sdist = build_twice(first, second, work, EPOCH)
    assert (wheel.name, sdist.name) == (f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz")
    with zipfile.ZipFile(wheel) as files, tarfile.open(sdist) as archive:
        return Built(set(files.namelist()), set(archive.getnames()))


def test_the_sdist(built: Built) -> None:
    """What a wheel is built from, and nothing else."""
    single = {"pyproject.toml", "README.md", "README.zh.md", "LICENSE", "CHANGELOG.md", ".gitignore"}
    folders = ("policykit/", "extension/", "profiles/", "schemas/")
    expected = {name for name in sources() if name in single or name.startswith(folders)}
    assert built.sdist == {f"{NAME}/{name}" for name in expected | {"PKG-INFO"}}


def test_the_wheel(built: Built) -> None:
    """The package; of profiles/ only what is read at run time, and of what describes it only the usual."""
    package = {name for name in sources() if name.startswith("policykit/")}
    bundled = {
        f"policykit/_bundled/{name}"
        for name in sources()
        if name.startswith(("schemas/", "profiles/compiled/"))
        or (name.startswith("profiles/") and name.count("/") == 1)
    }
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert built.wheel == package | bundled | {f"{NAME}.dist-info/{name}" for name in about}


def test_every_requirement_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    stated = [project["build-system"]["requires"], project["project"]["dependencies"], *extras]
    parsed = [Requirement(text) for texts in stated for text in texts]
    assert len(parsed) > 15
    assert [str(one) for one in parsed if "<" not in {clause.operator for clause in one.specifier}] == []
