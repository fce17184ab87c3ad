"""In an editor, a file shows what each of its clusters says."""

from __future__ import annotations

import os

import pytest

from tests.cli.commands import Shell
from tests.fleet.repositories import kustomization, policy
from tests.fleet.repositories import on_path as on_path
from tests.fleet.test_units import fleet

pytest.importorskip("pygls")

from policykit.cli.lsp import diagnostics
from policykit.workspace import safe_paths


def told(shell: Shell, files: dict[str, str], *, whole: bool = True) -> list[tuple[str, str]]:
    """Severity and code of each finding in the shared base, and the clusters that its message names."""
    shell.write(dict(files))
    safe_paths.begin(())
    found = diagnostics.lint(os.path.abspath("apps/gw/job.yaml"), {}, whole=whole)
    assert found.failures == ()
    return [
        (f"{one.code} {one.severity.value}", one.message.rpartition(" (")[2].removesuffix(")"))
        for one in found.findings
        if one.code == "PK101"
    ]


def test_all_clusters_agree(shell: Shell) -> None:
    (finding,) = told(shell, fleet(dev=policy("dev"), prod=policy("prod")))
    assert finding[0] == "PK101 error"
    assert "cluster" not in finding[1]


def test_each_cluster_has_its_own_settings(shell: Shell) -> None:
    files = fleet(dev=policy("dev", severity={"PK101": "info"}), prod=policy("prod"))
    assert told(shell, files) == [("PK101 info", "cluster dev"), ("PK101 error", "cluster prod")]
    files = fleet(dev=policy("dev", ignore=["PK101"]), prod=policy("prod"))
    assert told(shell, files) == [("PK101 error", "cluster prod")]


def test_while_it_is_changed_it_is_judged_as_written(shell: Shell) -> None:
    """What its overlays add is not known before it is saved: nothing that may be added is an error."""
    files = fleet(dev=policy("dev", ignore=["PK101"]), prod=policy("prod"))
    assert told(shell, files, whole=False) == [("PK101 error", "cluster prod")]
    files["clusters/prod/gw/kustomization.yaml"] = kustomization(
        resources=["../../../apps/gw"], labels=[{"pairs": {"a": "b"}}]
    )
    assert told(shell, files, whole=False) == [("PK101 warning", "cluster prod")]


def test_the_files_of_all_its_policies_are_watched(shell: Shell) -> None:
    shell.write({**fleet(dev=policy("dev"), prod=policy("prod"))})
    safe_paths.begin(())
    found = diagnostics.lint(os.path.abspath("apps/gw/job.yaml"), {})
    assert found.policy == {os.path.abspath(f"clusters/{name}/policykit.yaml") for name in ("dev", "prod")}
