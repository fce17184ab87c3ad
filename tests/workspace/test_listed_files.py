"""Which files kustomize reads, and what it reads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace import safe_paths
from policykit.workspace.listed_files import is_listed


@pytest.mark.parametrize(
    ("path", "listed"),
    [("a.yaml", True), ("patch.yaml", True), ("../base/c.yaml", True), ("b.yaml", False), ("-", False)],
)
def test_is_listed(tmp_path: Path, path: str, listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (".git", "app", "base"):
        (tmp_path / folder).mkdir()
    for name in ("app/a.yaml", "app/b.yaml", "app/patch.yaml", "base/c.yaml"):
        (tmp_path / name).write_text("a: 1\n")
    (tmp_path / "app/kustomization.yaml").write_text(
        "resources: [a.yaml, ../base/c.yaml, 1]\npatches: [{path: patch.yaml}]\n"
    )
    (tmp_path / "base/kustomization.yaml").write_text("resources: a.yaml\n")
    monkeypatch.chdir(tmp_path / "app")
    safe_paths.begin()
    assert is_listed(path) is listed
