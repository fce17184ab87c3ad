"""CONTRIBUTING.md names what is there: files, functions, types, targets of make, and the codes of rules."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from policykit.rules import CATALOGUE
from tests import documents
from tests.shared import ROOT

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
SOURCES = ("policykit", "scripts", "tests", "examples", "extension", "profiles", "schemas", "docs")
_FENCE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_PART = r"[\w<>*.-]+"
_PATH = re.compile(rf"{_PART}\.(?:py|pyi|c|md|yaml|toml|tsv|json)|(?:{_PART}/)+(?:[\w<>* .-]+)?")
_NAME = re.compile(r"_?[A-Z]\w+|\w*[a-z]_\w+|\w+(?=\()")
_ROW = re.compile(
    r"^ *\| `(\w+)` \| (?:PK(\d+) to PK(\d+)|none of its own) \| ?((?:PK\d+(?:, )?)*) ?\|$", re.MULTILINE
)
UPSTREAM = ("apis/", "pkg/", ".venv/")
"""Folders of others' repositories, and what is installed."""


def quoted() -> Iterator[str]:
    prose = _FENCE.sub("", CONTRIBUTING.read_text(encoding="utf-8"))
    yield from sorted(set(re.findall(r"`([^`]+)`", prose)))


@cache
def files() -> frozenset[str]:
    """Paths of files and folders; folders end with a slash."""
    found = [path for name in SOURCES for path in (ROOT / name).rglob("*") if "__pycache__" not in path.parts]
    found += [*ROOT.glob("*"), *(ROOT / name for name in SOURCES)]
    return frozenset(f"{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}" for path in found)


def is_there(path: str) -> bool:
    """Whether some file or folder ends with a path, in which <name> and * stand for a part of a name."""
    pattern = re.escape(path).replace(r"\*", "[^/]+")
    pattern = re.sub(r"<[^>]*>", "[^/]+", pattern)
    ends = re.compile(f"(?:.*/)?{pattern}/?")
    return any(ends.fullmatch(each) for each in files())


@cache
def names() -> frozenset[str]:
    """Every name that is defined somewhere: functions, types, constants, fields, keys of our own tables."""
    found: set[str] = set()
    for path in files():
        if path.endswith((".py", ".c")) and path != "tests/test_contributing.py":
            text = (ROOT / path).read_text(encoding="utf-8")
            found |= set(re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE))
            found |= set(re.findall(r"^\s*(\w+)(?:: [^=\n]+)?(?: = |:)", text, re.MULTILINE))
            found |= set(re.findall(r"POLICYKIT_\w+", text))
    return frozenset(found)


PATHS = [each for each in quoted() if _PATH.fullmatch(each) and not each.startswith(UPSTREAM)]
NAMES = [each for each in quoted() if _NAME.match(each) and each not in PATHS]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_there(path: str) -> None:
    assert is_there(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_defined(name: str) -> None:
    found = _NAME.match(name)
    assert found
    assert found[0] in names()


def test_paths_and_names_are_found() -> None:
    assert len(PATHS) > 100
    assert len(NAMES) > 60
    assert not is_there("policykit/no_such.py")
    assert not is_there("rules/<family>/no_such.py")


def test_targets_of_make_are_there() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([\w-]+)", text, re.MULTILINE)) <= known


def test_codes_of_each_folder() -> None:
    rows = {row[0]: row[1:] for row in _ROW.findall(CONTRIBUTING.read_text(encoding="utf-8"))}
    found: dict[str, list[str]] = {folder: [] for folder in rows}
    for entry in CATALOGUE:
        first, last, _ = rows[entry.folder]
        if not first or not int(first) <= int(entry.code.removeprefix("PK")) <= int(last):
            found[entry.folder].append(entry.code)
    assert found == {folder: also.split(", ") if also else [] for folder, (_, _, also) in rows.items()}


def test_files_that_are_shown() -> None:
    shown = [block for block in documents.blocks(CONTRIBUTING, "yaml") if block.words]
    assert len(shown) == 1
    for block in shown:
        assert (ROOT / block.words[0].removeprefix("file=")).read_text(encoding="utf-8") == block.text
