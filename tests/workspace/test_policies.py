"""The nearest policy upwards, never beyond the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from policykit.workspace.policies import nearest_policy


@pytest.mark.parametrize(
    ("policies", "folder", "nearest"),
    [
        ([], "a/b", ""),
        (["policykit.yaml"], "a/b", "policykit.yaml"),
        (["policykit.yaml", "a/policykit.yaml"], "a/b", "a/policykit.yaml"),
        (["a/c/policykit.yaml"], "a/b", ""),
        (["../policykit.yaml"], "a/b", ""),
        (["policykit.yaml"], ".", "policykit.yaml"),
    ],
    ids=["none", "root", "nearest", "beside", "outside", "here"],
)
def test_nearest_policy(tmp_path: Path, policies: list[str], folder: str, nearest: str) -> None:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "c").mkdir()
    for policy in policies:
        (root / policy).write_text("")
    found = nearest_policy(str(root / folder))
    assert found == (str(root / nearest) if nearest else "")


def test_a_folder_of_that_name_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "policykit.yaml").mkdir()
    assert nearest_policy(str(tmp_path)) == ""
