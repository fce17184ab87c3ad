"""`policykit profiles`, `cards` and `schema`: what is bundled."""

from __future__ import annotations

import pytest

from policykit import bundled
from policykit.cli.profiles import names
from tests.cli.commands import Shell


def test_the_listing_has_a_caption_for_each(shell: Shell) -> None:
    said = shell.run("profiles")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == list(names())
    assert all(len(line.split()) > 3 for line in lines[:-2])


@pytest.mark.parametrize("name", names())
def test_a_profile_is_printed_as_it_is(shell: Shell, name: str) -> None:
    said = shell.run("profiles", name)
    assert said == (0, bundled.read("profiles", f"{name}.yaml").decode(), "")


@pytest.mark.parametrize(
    "words",
    [
        ["profiles", "nope"],
        ["schema", "nope"],
        ["cards", "nope"],
        ["profiles", "../pyproject"],
        ["schema", ".."],
    ],
)
def test_what_is_not_bundled(shell: Shell, words: list[str]) -> None:
    said = shell.run(*words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("policykit: ")
    assert "\n  help: " in said.err
