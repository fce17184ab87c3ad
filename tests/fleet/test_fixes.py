"""A fix never writes what one cluster needs into a file that another one uses."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import policy
from tests.fleet.test_units import JOB, fleet

SCHEDULED = {"training": {"usages": ["training"], "scheduler": "default-scheduler"}}
RULES = ["--select", "PK101", "--kustomize", "never", "--no-cache"]


@pytest.mark.parametrize("paths", [["."], ["apps/gw"], ["apps/gw/job.yaml"]], ids=str)
def test_nothing_is_written_into_a_base_that_others_use(shell: Shell, paths: list[str]) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=policy("prod"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", *paths)
    assert (shell.folder / "apps/gw/job.yaml").read_text() == JOB
    assert (
        "policykit: apps/gw/job.yaml: PK101 is not fixed: clusters/prod/policykit.yaml applies to the file"
        " too: write it into clusters/dev/gw/kustomization.yaml\n" in result.err
    )
    assert result.code == 2


@pytest.mark.parametrize("differs", [True, False])
def test_patch_writes_only_what_is_right_for_every_cluster(shell: Shell, differs: bool) -> None:
    prod = json.loads(policy("prod")) | ({"domain": "other.example.com"} if differs else {})
    shell.write(dict(fleet(dev=policy("dev"), prod=json.dumps(prod))))
    words = ["patch", "-p", "clusters/dev/policykit.yaml", "--in-place", "apps/gw/job.yaml"]
    result = shell.run(*words)
    if differs:
        assert (result.code, (shell.folder / "apps/gw/job.yaml").read_text()) == (2, JOB)
        assert "help: write it into clusters/dev/gw/kustomization.yaml\n" in result.err
    else:
        assert result.code == 0, result.err
        assert (shell.folder / "apps/gw/job.yaml").read_text() != JOB


def test_a_base_of_one_cluster_is_fixed(shell: Shell) -> None:
    shell.write(dict(fleet(dev=policy("dev"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", "apps")
    assert (shell.folder / "apps/gw/job.yaml").read_text() != JOB
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("prod", "fits"),
    [
        ({}, True),
        ({"coverage": "complete"}, True),
        ({"domain": "other.example.com"}, False),
        ({"workloads": SCHEDULED}, False),
    ],
    ids=["alike", "same-needs", "other-domain", "other-scheduler"],
)
def test_patch_without_a_policy_suits_every_cluster_of_the_file(
    shell: Shell, prod: dict[str, object], fits: bool
) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=json.dumps(json.loads(policy("prod")) | prod))))
    result = shell.run("patch", "--in-place", "apps/gw/job.yaml")
    if not fits:
        assert (result.code, (shell.folder / "apps/gw/job.yaml").read_text()) == (2, JOB)
        assert result.err == (
            "policykit: apps/gw/job.yaml: dev and prod apply it and need different things\n"
            "  help: write them into clusters/dev/gw/kustomization.yaml and"
            " clusters/prod/gw/kustomization.yaml, or name one policy with -p\n"
        )
        return
    assert result.code == 0, result.err
    told = shell.run("where", "--format", "json", "apps/gw/job.yaml").out
    for pod_set in json.loads(told)["pod_sets"]:
        assert pod_set["pools"][0]["verdict"] in ("preferred", "accepted")
