"""The day of a run comes from outside: the environment, else the clock."""

from __future__ import annotations

import pytest

from policykit.linter.suppressions import is_day
from policykit.workspace.linting.request import today
from tests.cli.commands import Shell

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations:
    policykit.io/ignore: PK201 until 2026-06-30 -- the webhook adds the limit
spec:
  containers:
  - {name: main, image: "registry.example/a:1", resources: {requests: {cpu: 1, nvidia.com/gpu: 1}}}
"""


def test_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLICYKIT_TODAY", raising=False)
    assert is_day(today())


@pytest.mark.parametrize(
    ("day", "codes"), [("2026-06-30", []), ("2026-07-01", ["PK904", "PK201"])], ids=["last", "after"]
)
def test_the_environment(shell: Shell, monkeypatch: pytest.MonkeyPatch, day: str, codes: list[str]) -> None:
    monkeypatch.setenv("POLICYKIT_TODAY", day)
    shell.write({"a.yaml": POD})
    result = shell.run("lint")
    assert [line.split(" ")[1] for line in result.out.splitlines() if line.startswith("a.yaml")] == codes
    shell.run("baseline")
    assert shell.run("lint").out == ""


@pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "20260101"])
def test_what_is_no_day(shell: Shell, monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    monkeypatch.setenv("POLICYKIT_TODAY", day)
    for command in ("lint", "baseline"):
        result = shell.run(command)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            f"policykit: POLICYKIT_TODAY is '{day}', not a valid date\n  help: write it as 2030-12-31\n"
        )
