"""`policykit migrate`: what is written, and that the policy means the same."""

from __future__ import annotations

import pytest

from policykit.policy.load import load_text
from policykit.workspace.files import read
from tests.cli.commands import Shell

OLD = """\
# of version 0.1.0
apiVersion: policykit.io/v1alpha1
kind: Policy
metadata: {name: demo}
domain: ai.example.com
cards: {h20: {product: NVIDIA-H20}}
pools:
  batch: {usage: batch, card: h20, nodes: 2}   # ours
workloads:
  training: {usages: [batch], scheduler: volcano}
  other: {usages: [batch]}
"""


@pytest.mark.parametrize(
    "targets", ["", "targets: {volcano: {delivery: manifest}}\n"], ids=["implied", "stated"]
)
def test_releases_and_roles_are_written_and_nothing_else_changes(shell: Shell, targets: str) -> None:
    shell.write({"policykit.yaml": OLD + targets})
    before = load_text((OLD + targets).encode(), "policykit.yaml", read).cluster
    shown = shell.run("migrate", "--diff")
    assert (shown.code, shown.err) == (0, "")
    assert [line for line in shown.out.splitlines() if line.startswith("-")][1:] in (
        [],
        [
            "-  training: {usages: [batch], scheduler: volcano}",
            *(f"-{line}" for line in targets.splitlines()),
        ],
    )
    result = shell.run("migrate")
    assert result.code == 0
    text = (shell.folder / "policykit.yaml").read_text()
    assert "# ours" in text
    assert "role: training" in text
    after = load_text(text.encode(), "policykit.yaml", read).cluster
    assert after.targets["volcano"].version
    assert after.workloads["training"].role == "training"
    assert after.pools == before.pools
    assert after.targets.keys() == before.targets.keys()
    again = shell.run("migrate")
    assert (again.code, again.err) == (0, "policykit: policykit.yaml: nothing to add\n")


def test_what_is_generated_stays_the_same(shell: Shell) -> None:
    shell.write({"policykit.yaml": OLD + "generate: {out: out}\n"})
    shell.run("gen")
    shell.run("migrate")
    drift = shell.run("gen", "--check").err.splitlines()
    assert drift[:-1] == [
        "out/README.md: differs: the policy or the version of policykit has changed"
    ]  # it no longer says what was assumed


def test_without_a_policy_file(shell: Shell) -> None:
    for words in (("migrate",), ("migrate", "-p", "profile:hybrid-volcano")):
        result = shell.run(*words)
        assert (result.code, result.out) == (2, "")
        assert "there is no policy file to change" in result.err
