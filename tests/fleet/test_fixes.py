"""A fix never writes what one cluster needs into a file that another one uses."""

from __future__ import annotations

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import policy
from tests.fleet.test_units import JOB, fleet

RULES = ["--select", "PK101", "--kustomize", "never", "--no-cache"]


@pytest.mark.parametrize("paths", [["."], ["apps/gw"], ["apps/gw/job.yaml"]], ids=str)
def test_nothing_is_written_into_a_base_that_others_use(shell: Shell, paths: list[str]) -> None:
    shell.write(dict(fleet(dev=policy("dev"), prod=policy("prod"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", *paths)
    assert (shell.folder / "apps/gw/job.yaml").read_text() == JOB
    assert (
        "policykit: apps/gw/job.yaml: PK101 is not fixed: clusters/prod/policykit.yaml applies to the file"
        " too, so fix an overlay\n" in result.err
    )
    assert result.code == 1


def test_a_base_of_one_cluster_is_fixed(shell: Shell) -> None:
    shell.write(dict(fleet(dev=policy("dev"))))
    result = shell.run("lint", "-p", "clusters/dev/policykit.yaml", *RULES, "--unsafe-fixes", "apps")
    assert (shell.folder / "apps/gw/job.yaml").read_text() != JOB
    assert result.code == 0, result.err
