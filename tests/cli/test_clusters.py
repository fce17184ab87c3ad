"""`policykit clusters` tells what each policy applies to, and what none judges."""

from __future__ import annotations

import json

from tests.cli.commands import Shell
from tests.fleet.test_applies import FLEET, policy
from tests.fleet.test_flux import fleet
from tests.fleet.test_flux import lint as lint_with_remote

TEXT = """\
dev  clusters/dev/policykit.yaml
  apps/gw  kustomization (clusters/dev/policykit.yaml:11)
prod  clusters/prod/policykit.yaml
  apps/gw  kustomization (clusters/prod/policykit.yaml:11)
  plain  folder as Flux reads it (clusters/prod/policykit.yaml:14)

judged by no policy: 1
  other/job.yaml
"""


def test_clusters(shell: Shell) -> None:
    shell.write(dict(FLEET))
    assert shell.run("clusters") == (0, TEXT, "")
    found = json.loads(shell.run("clusters", "--format", "json", "apps").out)
    assert [(each["name"], each["by_place"]) for each in found["clusters"]] == [
        ("dev", False),
        ("prod", False),
    ]
    assert [each["path"] for each in found["clusters"][1]["applies"]] == ["apps/gw", "plain"]
    assert found["judged_by_none"] == ["other/job.yaml"]


def test_clusters_of_flux(shell: Shell) -> None:
    files = fleet({"sourceRef": {"kind": "Bucket", "name": "a"}}, resources=["job.yaml"])
    lint_with_remote(shell, {**files, "policykit.yaml": policy("base", generate={"out": "gen"})})
    shown = shell.run("clusters").out
    assert "prod  clusters/prod/policykit.yaml\n  clusters/prod  folder as Flux reads it" in shown
    assert "  ?  kustomization (Kustomization flux-system/apps, " in shown
    assert "    not judged: its source is Bucket a, not a GitRepository\n" in shown
    assert "  clusters/prod  folder as Flux reads it (Kustomization flux-system/own, " in shown
    assert "  other files with no nearer policy\n" in shown
    assert "base  policykit.yaml\n  files with no nearer policy\n" in shown


def test_what_cannot_be_read_fails(shell: Shell) -> None:
    shell.write({"policykit.yaml": policy("one", {"path": "none"})})
    result = shell.run("clusters")
    assert (result.code, result.out) == (2, "one  policykit.yaml\n")
    assert "none does not exist" in result.err
    assert shell.run("clusters", "none").code == 2


def test_a_policy_with_a_mistake_fails(shell: Shell) -> None:
    """What it applies to may not be what is listed."""
    shell.write({"a/policykit.yaml": policy("one"), "b/policykit.yaml": f"<<<<<<< HEAD\n{policy('two')}"})
    result = shell.run("clusters")
    assert result.code == 2
    assert result.out == (
        "one  a/policykit.yaml\n  files with no nearer policy\n"
        "(no name)  b/policykit.yaml\n  files with no nearer policy\n"
    )
    assert result.err == (
        "policykit: b/policykit.yaml:1:1: a merge conflict was left in the file\n"
        "  help: choose one side and delete the lines <<<<<<<, ======= and >>>>>>>\n"
    )


def test_no_policy(shell: Shell) -> None:
    assert shell.run("clusters").out == "no policy in this repository\n"


def test_outside_a_repository(shell: Shell) -> None:
    """Nothing but the place of a file counts there."""
    shell.write({"policykit.yaml": policy("one"), "apps/job.yaml": FLEET["other/job.yaml"]})
    (shell.folder / ".git").rmdir()
    said = "not in a git repository: each file belongs to the nearest policykit.yaml above it\n"
    assert shell.run("clusters") == (0, said, "")
