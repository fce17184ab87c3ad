"""The releases that are known, as the command lists them."""

from __future__ import annotations

from policykit.targets import release_listing
from tests.cli.commands import Shell


def test_the_listing(shell: Shell) -> None:
    result = shell.run("versions")
    assert (result.code, result.err) == (0, "")
    assert result.out == release_listing.listing()
    assert "Volcano            1.8             1.15.1" in result.out


def test_one_system(shell: Shell) -> None:
    result = shell.run("versions", "koordinator")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Koordinator: supported from 1.3, known until 1.8.0\n")
    assert "scheduling.koordinator.sh/numa-topology-spec" in result.out


def test_an_unknown_system(shell: Shell) -> None:
    result = shell.run("versions", "slurm")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("policykit: unknown system 'slurm'")
    assert "known systems: kubernetes, volcano, koordinator" in result.err
