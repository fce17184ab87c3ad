"""The list of rules, and the documentation of one."""

from __future__ import annotations

import json

import pytest

from policykit.rules import CATALOGUE, rules
from tests.cli.commands import Shell


def test_table(shell: Shell) -> None:
    result = shell.run("rules")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert [line.split()[:2] for line in lines[:-4]] == [[e.code, e.name] for e in CATALOGUE]
    assert {line.split()[0] for line in lines[:-4] if "O" in line.split()[3]} == {"PK905"}
    assert lines[0].split(None, 4)[2:] == ["error", "---", "A document is not valid YAML or JSON."]


def test_json(shell: Shell) -> None:
    data = json.loads(shell.run("rules", "--format", "json").out)
    assert data["schema_version"] == 1
    assert [rule["code"] for rule in data["rules"]] == [e.code for e in CATALOGUE]
    assert data["rules"][0] == {
        "code": "PK001",
        "name": "syntax-error",
        "severity": "error",
        "needs_policy": False,
        "fix": None,
        "summary": "A document is not valid YAML or JSON.",
        "since": "0.1",
        "preview": False,
        "on_request": False,
    }


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule.code))
def test_every_rule_has_a_page(shell: Shell, rule: object) -> None:
    code, name = getattr(rule, "code", ""), getattr(rule, "name", "")
    result = shell.run("explain", code)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{code} {name}\n")
    assert "\nBad:\n\n    " in result.out
    assert "\nGood:\n\n    " in result.out
    assert result.out in shell.run("explain", name).out
    assert shell.run("explain", code.lower()).out == result.out


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
        ("PK0", "policykit: PK0 matches 9 rules\n  help: give the code or the name of one rule\n"),
    ],
)
def test_what_is_not_one_rule(shell: Shell, rule: str, message: str) -> None:
    result = shell.run("explain", rule)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(message)
