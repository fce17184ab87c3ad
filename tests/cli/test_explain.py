"""`policykit explain`: every rule's page."""

from __future__ import annotations

import pytest

from policykit.rules import rules
from tests.cli.commands import Shell


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule.code))
def test_every_rule_has_a_page(shell: Shell, rule: object) -> None:
    code, name = getattr(rule, "code", ""), getattr(rule, "name", "")
    said = shell.run("explain", code)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{code} {name}\n")
    assert "\nBad:\n\n    " in said.out
    assert "\nGood:\n\n    " in said.out
    assert said.out in shell.run("explain", name).out
    assert shell.run("explain", code.lower()).out == said.out


def test_two_rules_of_one_name(shell: Shell) -> None:
    """The same fault in the configurations of two schedulers."""
    pages = [shell.run("explain", code).out for code in ("PK507", "PK606")]
    assert shell.run("explain", "opposing-scores").out == "\n".join(pages)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("PK8x", "policykit: no rule is called 'PK8x'\n"),
        ("missing-tolerations", "policykit: no rule is called 'missing-tolerations'\n  help: did you mean"),
        ("", "policykit: no rule is called ''\n"),
        ("PK0", "policykit: PK0 matches 8 rules\n  help: give the code or the name of one rule\n"),
    ],
)
def test_what_is_not_one_rule(shell: Shell, rule: str, message: str) -> None:
    said = shell.run("explain", rule)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(message)
