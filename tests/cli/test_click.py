"""What is parsed without click is what click parses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.cli import COMMANDS
from policykit.cli.click import Command

DECLARED: Mapping[str, Command] = {name: entry.command.load() for name, entry in COMMANDS.items()}
OF_CLICK: Mapping[str, click.Command] = {name: command.made() for name, command in DECLARED.items()}
LEFT_TO_CLICK = {"nodes": "the value of --check may be left out"}
PLAIN = [name for name in COMMANDS if name not in LEFT_TO_CLICK]
EXAMPLES = {"choice": "never", "integer range": "3", "float range": "2.5", "text": "word", "path": "."}


def of_click(name: str, words: list[str]) -> dict[str, Any] | None:
    """What click makes of the words; None: it refuses them, or shows help."""
    try:
        return OF_CLICK[name].make_context(name, list(words)).params
    except (click.ClickException, click.exceptions.Exit):
        return None


def options() -> list[tuple[str, click.Option]]:
    return [
        (name, each) for name in PLAIN for each in OF_CLICK[name].params if isinstance(each, click.Option)
    ]


def required(name: str) -> list[str]:
    """Words without which a command cannot run."""
    needed = [each for each in OF_CLICK[name].params if each.required]
    words = [(*each.opts[:1], value_of(each)) for each in needed]
    return [
        word
        for pair, each in zip(words, needed, strict=True)
        for word in pair[isinstance(each, click.Argument) :]
    ]


def value_of(option: click.Parameter) -> str:
    return option.type.choices[-1] if isinstance(option.type, click.Choice) else EXAMPLES[option.type.name]


@pytest.mark.parametrize("name", PLAIN)
def test_defaults(name: str) -> None:
    found = DECLARED[name].parsed(required(name))
    assert found is not None
    assert found == of_click(name, required(name))


@pytest.mark.parametrize("name", PLAIN)
def test_missing_and_superfluous_arguments_are_left_to_click(name: str) -> None:
    for words in ([], ["a", "b"], ["a", "b", "c"]):
        assert DECLARED[name].parsed(words) == of_click(name, words)


@pytest.mark.parametrize("name", LEFT_TO_CLICK)
def test_some_commands_are_always_left_to_click(name: str) -> None:
    assert DECLARED[name].parsed(required(name)) is None


@pytest.mark.parametrize(
    ("name", "option", "flag"), [(name, each, flag) for name, each in options() for flag in each.opts]
)
def test_every_option(name: str, option: click.Option, flag: str) -> None:
    value = [] if option.is_flag else [value_of(option)]
    words = [*required(name), flag, *value]
    expected = of_click(name, words)
    assert expected is not None
    if option.callback or isinstance(option.type, click.FloatRange):
        assert DECLARED[name].parsed(words) is None  # click converts it
        return
    assert DECLARED[name].parsed(words) == expected
    if value and flag.startswith("--"):
        joined = [*required(name), f"{flag}={value[0]}"]
        assert DECLARED[name].parsed(joined) == of_click(name, joined)


@pytest.mark.parametrize(("name", "option"), options())
def test_options_without_a_value_or_with_a_wrong_one_are_left_to_click(
    name: str, option: click.Option
) -> None:
    flag = option.opts[-1]
    wrong = [[f"{flag}=wrong"]] if option.is_flag else [[flag]]
    if isinstance(option.type, click.Choice | click.IntRange):
        wrong += [[flag, "wrong"], [flag, "-1"], [flag, ""], [f"{flag}="]]
    for words in wrong:
        assert of_click(name, [*required(name), *words]) is None
        assert DECLARED[name].parsed([*required(name), *words]) is None


def words_of(name: str) -> st.SearchStrategy[list[str]]:
    flags = [flag for each in OF_CLICK[name].params for flag in each.opts if flag.startswith("-")]
    texts = ["", "-", "--", "a.yaml", "auto", "never", "json", "error", "0", "+1", "1_0", "٣", "9" * 5000]
    texts += [
        "-x",
        "--help",
        "--no",
        "-pa",
        "-hp",
        "=",
        "--=",
        "-p=a",
        "--color=never",
        "--output=",
        "\udcff",
    ]
    one = st.sampled_from(texts + flags) | st.builds(
        "{}={}".format, st.sampled_from(flags or ["-x"]), st.sampled_from(texts)
    )
    return st.lists(one, max_size=6)


@given(st.data())
def test_parsed_words_mean_what_they_mean_to_click(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(COMMANDS)))
    words = data.draw(words_of(name))
    found = DECLARED[name].parsed(words)
    if found is not None:
        assert found == of_click(name, words)


def test_a_setting_that_is_not_understood_is_left_to_click() -> None:
    from policykit.cli import click as recorded

    @recorded.command("count")
    @recorded.option("-v", count=True)
    def count(v: int) -> int:
        return v

    assert count.parsed([]) is None
    assert count.made().make_context("count", ["-vv"]).params == {"v": 2}
