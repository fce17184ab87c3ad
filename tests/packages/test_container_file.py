"""The container file: everything it copies is there, and the image runs as nobody's user."""

from __future__ import annotations

import re
import tomllib

from tests.packages.template import INPUTS
from tests.shared import ROOT

LINES = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
INSTRUCTIONS = [line.split(None, 1) for line in LINES if line and not line.startswith("#")]


def arguments(name: str) -> list[str]:
    return [words[1] for words in INSTRUCTIONS if words[0] == name]


def test_what_it_copies_is_there() -> None:
    copied = [word for line in arguments("COPY") if not line.startswith("--") for word in line.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_it_copies_what_the_package_is_built_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    built = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    copied = {word for line in arguments("COPY") if not line.startswith("--") for word in line.split()[:-1]}
    assert copied == {name.removeprefix("/") for name in built} | {"pyproject.toml"}


def test_how_it_runs() -> None:
    assert arguments("USER") == ["10001"]
    assert arguments("ENTRYPOINT") == ['["policykit"]']
    assert arguments("WORKDIR")[-1] == "/src"
    assert any("org.opencontainers.image.title" in line for line in arguments("LABEL"))


def test_images_are_named_by_their_digest() -> None:
    (argument,) = arguments("ARG")
    image = argument.removeprefix("PYTHON=")
    assert re.fullmatch(r"python:3\.\d+-slim@sha256:[0-9a-f]{64}", image)
    assert arguments("FROM") == ["${PYTHON} AS build", "${PYTHON}"]
    assert INPUTS["image"]["default"] == image
