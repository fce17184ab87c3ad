"""The nearest policy upwards, never beyond the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policykit.workspace.command_state import reset
from policykit.workspace.policies import (
    is_extended,
    nearest_policy,
    output_folders,
    policy_files,
    policy_names,
)


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


HEAD = "apiVersion: policykit.io/v1alpha1\nkind: Policy\n"


def policy(name: str = "", out: str = "", extends: str = "") -> str:
    return (
        HEAD
        + (f"metadata: {{name: {name}}}\n" if name else "")
        + (f"generate: {{out: {out}}}\n" if out else "")
        + (f"extends: [{extends}]\n" if extends else "")
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in {
        ".git/HEAD": "",
        "base.yaml": policy("maip", "gen"),
        "prod/policykit.yaml": policy("prod", "", "../base.yaml"),
        "dev/policykit.yaml": policy("dev", "../deploy/dev", "../base.yaml"),
        "draft/policykit.yaml": policy("draft"),
        "broken/policykit.yaml": "a: [\n",
        "wrong/policykit.yaml": policy("wrong", "gen") + "pools: 3\n",
        "empty/policykit.yaml": "",
        "odd/policykit.yaml": HEAD + "metadata: [1]\ngenerate: {out: [a]}\n",
        "app.yaml": "kind: Pod\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return Path(os.path.realpath(tmp_path))


def test_policies_of_a_repository(repository: Path) -> None:
    names = ["broken", "dev", "draft", "empty", "odd", "prod", "wrong"]
    assert policy_files(str(repository)) == tuple(f"{repository}/{name}/policykit.yaml" for name in names)


def test_folders_are_taken_even_by_policies_that_do_not_compile(repository: Path) -> None:
    reference = f"{repository}/prod/policykit.yaml"
    assert output_folders(reference, f"{repository}/prod/gen") == {
        f"{repository}/deploy/dev": f"{repository}/dev/policykit.yaml",
        f"{repository}/wrong/gen": f"{repository}/wrong/policykit.yaml",
    }


def test_the_own_folder_is_taken_where_another_is_written(repository: Path) -> None:
    reference = f"{repository}/prod/policykit.yaml"
    assert output_folders(reference, f"{repository}/prod")[f"{repository}/prod/gen"] == reference


def test_two_policies_of_one_folder(repository: Path) -> None:
    (repository / "twin").symlink_to("dev")
    (repository / "copy").mkdir()
    (repository / "copy/policykit.yaml").write_text(policy("dev", "../deploy/dev"))
    folder = f"{repository}/deploy/dev"
    assert (
        output_folders(f"{repository}/copy/policykit.yaml", folder)[folder]
        == f"{repository}/dev/policykit.yaml"
    )
    assert (
        output_folders(f"{repository}/dev/policykit.yaml", folder)[folder]
        == f"{repository}/copy/policykit.yaml"
    )
    (repository / "copy/policykit.yaml").unlink()
    reset()
    assert folder not in output_folders(f"{repository}/twin/policykit.yaml", folder)


def test_a_policy_of_another_name_takes_its_folder_too(repository: Path) -> None:
    (repository / "site.yaml").write_text(policy("site", "deploy"))
    assert output_folders(f"{repository}/site.yaml", f"{repository}/other")[f"{repository}/deploy"].endswith(
        "site.yaml"
    )


def test_a_profile_has_the_neighbours_of_its_folder(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert f"{repository}/deploy/dev" in output_folders("profile:hybrid-volcano", f"{repository}/x")
    assert output_folders("profile:hybrid-volcano", str(tmp_path_factory.mktemp("alone"))) == {}


def test_without_a_repository_nobody_is_looked_for(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policykit.yaml").write_text(policy(name, "gen"))
    assert output_folders(str(tmp_path / "a/policykit.yaml"), str(tmp_path / "a/gen")) == {}


def test_names_are_those_of_every_policy_file(repository: Path) -> None:
    reference = f"{repository}/prod/policykit.yaml"
    assert policy_names(reference, "") - {""} == {"maip", "prod", "dev", "draft", "wrong"}


@pytest.mark.parametrize(
    ("path", "is_base"),
    [
        ("base.yaml", True),
        ("prod/policykit.yaml", False),
        ("broken/policykit.yaml", False),
        ("none.yaml", False),
    ],
)
def test_what_others_extend(repository: Path, path: str, is_base: bool) -> None:
    assert is_extended(f"{repository}/{path}") is is_base
