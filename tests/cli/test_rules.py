"""`policykit rules`: all of them, as a table and as JSON."""

from __future__ import annotations

import json

from policykit.rules import CATALOGUE
from tests.cli.commands import Shell


def test_table(shell: Shell) -> None:
    said = shell.run("rules")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
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
