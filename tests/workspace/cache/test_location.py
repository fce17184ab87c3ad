"""Which folder is the cache, and the checkouts that it must not stand in."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from policykit.workspace.cache.location import default_folder, enclosing


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"POLICYKIT_CACHE_DIR": "/a/b"}, "/a/b"),
        ({"POLICYKIT_CACHE_DIR": "/a/../b/."}, "/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/policykit"),
        ({"XDG_CACHE_HOME": "relative"}, ""),
        ({"HOME": "/home/ann"}, "/home/ann/.cache/policykit"),
        ({"POLICYKIT_CACHE_DIR": "", "HOME": "/home/ann"}, ""),
    ],
)
def test_where_it_is(environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", environment.get("HOME", "/home/bob"))
    assert default_folder(environment) == name


def test_a_relative_name_starts_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder({"POLICYKIT_CACHE_DIR": "a"}) == str(tmp_path / "a")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository `repo`, a folder `plain` without git, and the current folder beside both."""
    for name in ("repo/.git", "repo/sub", "plain/apps", "outside", "here"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside/to-repo").symlink_to(tmp_path / "repo")
    (tmp_path / "repo/to-outside").symlink_to(tmp_path / "outside")
    (tmp_path / "to-plain").symlink_to(tmp_path / "plain")
    (tmp_path / "plain/a.yaml").write_text("")
    (tmp_path / "here/a.yaml").symlink_to(tmp_path / "plain/a.yaml")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.mark.parametrize(
    ("cache", "paths", "found"),
    [
        ("repo/.cache", [], "repo"),
        ("repo/sub/deep/.cache", [], "repo"),
        ("repo", [], "repo"),
        ("repo/.git/cache", [], "repo"),
        ("outside/to-repo/.cache", [], "repo"),
        ("outside/../repo/.cache", [], "repo"),
        ("repo/to-outside/.cache", [], ""),
        ("outside/.cache", ["../repo"], ""),
        ("plain/.cache", [], ""),
        ("plain/.cache", ["../plain"], "plain"),
        ("plain/apps/.cache", ["../plain"], "plain"),
        ("plain/.cache", ["../plain/apps"], ""),
        ("plain", ["../plain"], "plain"),
        (".", ["../plain"], ""),
        ("plain/.cache", ["../plain/a.yaml"], "plain"),
        ("plain/.cache", ["../to-plain"], "plain"),
        ("to-plain/.cache", ["../plain"], "plain"),
        ("plain/.cache", ["a.yaml"], "plain"),
        ("here/.cache", [], "here"),
        ("here/.cache", ["../nowhere/a.yaml"], "here"),
    ],
)
def test_the_checkout_that_it_stands_in(cache: str, paths: list[str], found: str, place: Path) -> None:
    expected = str(place / found) if found else ""
    assert enclosing(os.path.realpath(place / cache), paths) == expected


def test_a_work_tree_is_a_repository(place: Path) -> None:
    (place / "plain/.git").write_text("gitdir: /elsewhere\n")
    assert enclosing(str(place / "plain/.cache"), []) == str(place / "plain")
    (place / "plain/.git").unlink()
    (place / "plain/.git").symlink_to("nowhere")
    assert enclosing(str(place / "plain/.cache"), []) == str(place / "plain")


@pytest.mark.parametrize("here", ["", "/"])
def test_the_home_of_the_account_is_no_checkout(here: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    if any(os.path.lexists(os.path.join(above, ".git")) for above in (home, os.path.dirname(home))):
        pytest.skip("the home of this account is a repository")
    monkeypatch.chdir(here or home)
    monkeypatch.setenv("HOME", "/somewhere")
    assert enclosing(os.path.join(home, ".cache", "policykit"), ["."]) == ""
