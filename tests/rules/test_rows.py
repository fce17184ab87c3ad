"""Every row of the fact sheets is a rule's: `rows/` names the rule and a case that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from policykit.rules import CATALOGUE
from tests.loaded import loaded
from tests.shared import SHARED

FOLDER = Path(__file__).parent
FAMILIES = {entry.code: entry for entry in CATALOGUE}


def numbered(text: str) -> list[str]:
    """Items of a list whose lines begin with a number."""
    return re.findall(r"^(\d+)\. ", text, re.MULTILINE)


def numbered_within(text: str) -> list[str]:
    """Items counted within lines: `1. no tasks. 2. ...`."""
    return re.findall(r"(?:^|(?<=\s))(\d+)\. (?=[a-z`*])", text, re.MULTILINE)


def table(text: str) -> list[str]:
    """Rows of the section's last table, counted."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [str(number) for number in range(1, len(rows) - 1)]


def identified(pattern: str) -> Callable[[str], list[str]]:
    """Rows that carry a name: V1, L3, C4."""
    return lambda text: list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))


def prose(text: str) -> list[str]:
    """Sentences: what counts as a row is said in `rows/`."""
    return []


SHEETS: dict[str, dict[str, Callable[[str], list[str]]]] = {
    "volcano": {
        "1.4": prose,
        "1.7": numbered,
        "3.1": numbered,
        "3.2": prose,
        "3.3": numbered_within,
        "3.4": prose,
        "3.5": prose,
        "3.6": prose,
        "3.7": prose,
        "3.8": prose,
        "6.1": table,
        "6.2": table,
    },
    "koordinator": {"9": identified(r"\b([CGQPR]\d+)\b")},
    "yunikorn": {"2": identified(r"^- (V\d+) "), "12": identified(r"^\| (L\d+) \|")},
    "kubernetes": {"10": numbered},
    "cards": {"8": identified(r"^\| (\d+) \|")},
    "workload-kinds": {"6": table},
}
"""Which sections have rows, and how they are told."""


@cache
def rows(sheet: str) -> dict[str, dict[str, dict[str, str]]]:
    data = loaded((FOLDER / "rows" / f"{sheet}.yaml").read_text(encoding="utf-8"))
    assert data["sheet"] == f"{sheet}.md"
    return dict(data["sections"])


@cache
def section(sheet: str, number: str) -> str:
    assert SHARED is not None
    text = (SHARED / "reference" / f"{sheet}.md").read_text(encoding="utf-8")
    start = re.search(rf"^#+ {re.escape(number)}\.? ", text, re.MULTILINE)
    assert start is not None
    rest = text[start.end() :]
    end = re.search(r"^#", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def each() -> Iterator[Any]:
    for sheet in SHEETS:
        for number, found in rows(sheet).items():
            for row, said in found.items():
                yield pytest.param(said, id=f"{sheet} {number} {row}")


@cache
def cases(rule: str) -> frozenset[str]:
    """Names of a rule's bad cases."""
    entry = FAMILIES[rule]
    path = FOLDER / entry.folder / "cases" / f"{entry.name}.yaml"
    data = loaded(path.read_text(encoding="utf-8"))
    return frozenset(case["name"] for case in data["bad"])


@pytest.mark.parametrize("said", list(each()))
def test_a_row_has_its_rule_and_case(said: dict[str, str]) -> None:
    if "unseen" in said:
        assert said.keys() <= {"unseen", "what"}
        assert said["unseen"]
    else:
        assert said["rule"] in FAMILIES
        assert said["case"] in cases(said["rule"])


@pytest.mark.parametrize(
    ("sheet", "number"), [(sheet, number) for sheet, sections in SHEETS.items() for number in sections]
)
def test_no_row_is_missing(sheet: str, number: str) -> None:
    assert rows(sheet).get(number), "the section has no rows"
    if SHARED is None:
        pytest.skip("the shared fact sheets are not beside this checkout")
    there = SHEETS[sheet][number](section(sheet, number))
    assert set(there) <= set(rows(sheet)[number])
    assert there or SHEETS[sheet][number] is prose


@pytest.mark.parametrize("sheet", list(SHEETS))
def test_few_rows_are_unseen(sheet: str) -> None:
    """A row that no file can show is an exception that says why."""
    found = [said for number in rows(sheet).values() for said in number.values()]
    assert sum("unseen" in said for said in found) <= len(found) // 4
