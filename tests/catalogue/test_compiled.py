"""The compiled tables follow their sources."""

import json

import pytest

from scripts.compile_cards import COMPILED, compile_cards, main

TABLES = ("cards.json", "daemons.json", "labels.json", "resources.json")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_its_sources_say(name: str) -> None:
    assert (COMPILED / name).read_bytes() == compile_cards()[name]


def test_every_table_is_compiled() -> None:
    assert sorted(compile_cards()) == sorted(TABLES)


def test_one_line_per_entry_with_sorted_keys() -> None:
    text = compile_cards()["cards.json"].decode()
    cards = json.loads(text)["products"]
    lines = [line for line in text.splitlines() if line.startswith(' "')]
    assert list(cards) == sorted(cards)
    assert len(lines) == len(cards) + len(json.loads(text)["vendors"])


def test_check_finds_nothing_stale() -> None:
    assert main(["--check"]) == 0
