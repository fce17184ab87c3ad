"""The compiled tables follow their sources."""

import json
from typing import Any

import pytest

from scripts.compile_cards import COMPILED, compile_cards, main, product

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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": "guess"}, "NVIDIA-X: evidence 'guess' is not one of derived, device-name, label"),
        (
            {"memory": {"mib": 1024, "confidence": "sure"}},
            "NVIDIA-X: confidence 'sure' is not one of measured, nominal, recalled, reported",
        ),
        ({"perNode": 8}, "NVIDIA-X: field 'perNode' is not one of ai_cores, "),
    ],
)
def test_what_nothing_reads_is_refused(change: dict[str, Any], message: str) -> None:
    card = {"product": "NVIDIA-X", "evidence": "label"}
    assert product("nvidia", card)["vendor"] == "nvidia"
    with pytest.raises(ValueError, match=message):
        product("nvidia", card | change)
