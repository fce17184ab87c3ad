"""The folder of earlier runs: where it is, and when it is not used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policykit.sources import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_what_is_kept_is_there_again(folder: Path) -> None:
    assert cache.load("a") == b""
    assert cache.store("a", b"1")
    assert cache.load("a") == b"1"
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_to_is_not_believed(folder: Path) -> None:
    cache.store("a", b"1")
    folder.chmod(0o777)
    assert cache.load("a") == b""
    assert not cache.store("b", b"2")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    folder.mkdir(mode=0o500)
    assert not cache.store("a", b"1")


def test_a_file_in_the_way(folder: Path) -> None:
    folder.write_text("")
    assert not cache.store("a", b"1")
    assert cache.load("a") == b""


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"POLICYKIT_CACHE_DIR": "/a/b"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/policykit"),
        ({"XDG_CACHE_HOME": "relative"}, ""),
        ({"HOME": "/home/ann"}, "/home/ann/.cache/policykit"),
        ({"POLICYKIT_CACHE_DIR": "", "HOME": "/home/ann"}, ""),
    ],
)
def test_where_it_is(environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (cache.VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert cache._folder() == name
    assert cache.is_on() is bool(name)


def test_a_checkout_is_told_by_its_files() -> None:
    lines = cache.tool().decode().splitlines()
    assert any(line.startswith("cache.py ") for line in lines)
    assert any(line.startswith("policy.json ") for line in lines)
