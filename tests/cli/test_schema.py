"""`policykit schema`: the bundled JSON Schemas."""

from __future__ import annotations

import json

from policykit import bundled
from tests.cli.commands import Shell


def test_the_listing_names_what_can_be_printed(shell: Shell) -> None:
    said = shell.run("schema")
    assert (said.code, said.err) == (0, "")
    listed = said.out.split()
    assert "policy" in listed
    for name in listed:
        printed = shell.run("schema", name)
        assert printed.code == 0, name
        json.loads(printed.out)


def test_the_policy_as_it_is(shell: Shell) -> None:
    assert shell.run("schema", "policy").out == bundled.read("schemas", "policy.json").decode()
