"""Cards, schemas and releases, as the commands list them."""

from __future__ import annotations

import json

import pytest

from policykit import bundled
from policykit.targets import releases
from tests.cli.commands import Shell


def test_the_releases(shell: Shell) -> None:
    result = shell.run("versions")
    assert (result.code, result.err) == (0, "")
    assert result.out == releases.listing()
    assert "Volcano            1.8             1.15.1" in result.out


def test_one_system(shell: Shell) -> None:
    result = shell.run("versions", "koordinator")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Koordinator: supported from 1.3, known until 1.8.0\n")
    assert "scheduling.koordinator.sh/numa-topology-spec" in result.out


def test_a_system_by_any_name_of_the_list(shell: Shell) -> None:
    for line in releases.listing().splitlines()[1:-2]:
        title = line.split()[0]
        assert shell.run("versions", title).out.startswith(f"{title}: supported from ")


def test_a_schema_that_is_misspelt(shell: Shell) -> None:
    assert shell.run("schema", "kuberntes/apps") == (
        2,
        "",
        "policykit: unknown schema 'kuberntes/apps'\n  help: did you mean kubernetes/apps?\n",
    )


def test_an_unknown_system(shell: Shell) -> None:
    result = shell.run("versions", "slurm")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: unknown system 'slurm'")
    assert "known systems: kubernetes, volcano, koordinator" in result.err


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
    result = shell.run(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: ")
    assert "\n  help: " in result.err


def test_the_listing_names_what_can_be_printed(shell: Shell) -> None:
    result = shell.run("schema")
    assert (result.code, result.err) == (0, "")
    listed = result.out.split()
    assert "policy" in listed
    for name in listed:
        printed = shell.run("schema", name)
        assert printed.code == 0, name
        json.loads(printed.out)


def test_the_schema_of_policies(shell: Shell) -> None:
    assert shell.run("schema", "policy").out == bundled.read("schemas", "policy.json").decode()
