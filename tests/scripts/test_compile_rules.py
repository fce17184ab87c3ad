"""The catalogue says what the rules say."""

from __future__ import annotations

from policykit.rules import CATALOGUE
from scripts.compile_rules import PATH, text


def test_the_catalogue_is_up_to_date() -> None:
    assert PATH.read_text(encoding="utf-8") == text(), "run `make compiled`"


def test_codes_are_unique() -> None:
    assert len({entry.code for entry in CATALOGUE}) == len(CATALOGUE)
