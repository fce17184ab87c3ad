"""SECURITY.md names tests that are there."""

from __future__ import annotations

import re

import pytest

from tests.shared import ROOT

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def named() -> list[tuple[str, str]]:
    """(file, function or nothing) of every test in the table; `::name` goes on with the file before it."""
    found: list[tuple[str, str]] = []
    for file, name in re.findall(r"`((?:tests/[\w/]+\.py)?)(?:::(\w+))?`", TEXT):
        if file or name:
            found.append((file or found[-1][0], name))
    return found


@pytest.mark.parametrize(("file", "name"), named())
def test_every_named_test_is_there(file: str, name: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {name}(" in text if name else "def test_" in text


def test_every_line_names_a_test() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and "tests" in line]
    assert len(rows) > 10
    assert all("`tests/" in row for row in rows[1:])
