"""When a terminal gets colours."""

from __future__ import annotations

import re

import pytest

from policykit.formats import Around, format_named
from policykit.formats.colour import wanted
from tests.formats.reports import AROUND, MIXED


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "on"),
    [
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, False, True),
    ],
)
def test_wanted(choice: str, environment: dict[str, str], terminal: bool, on: bool) -> None:
    assert wanted(choice, environment, terminal) is on


@pytest.mark.parametrize("name", ["text", "concise"])
def test_colours_add_nothing_but_colours(name: str) -> None:
    plain = format_named(name)(MIXED, AROUND)
    coloured = format_named(name)(MIXED, AROUND._replace(colour=True))
    assert coloured != plain
    assert re.sub("\x1b\\[[0-9;]+m", "", coloured) == plain


def test_nothing_else_is_coloured() -> None:
    for name in ("json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson"):
        assert "\x1b" not in format_named(name)(MIXED, Around(colour=True))
