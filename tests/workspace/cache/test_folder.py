"""The files of the cache folder: written whole, and read only where nobody else can have written them."""

from __future__ import annotations

import os
import pwd
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.workspace.cache import folder as module
from policykit.workspace.cache.folder import (
    KEY,
    LARGEST,
    NO_CACHE,
    Cache,
    DamagedError,
    default_folder,
    enclosing,
    fault_of,
    pack,
    unpack,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def cache(folder: Path) -> Cache:
    return Cache(str(folder))


def test_what_is_stored_is_there_again(cache: Cache, folder: Path) -> None:
    assert cache.load("a") == b""
    assert cache.store("a", b"1")
    assert cache.load("a") == b"1"
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "a").stat().st_mode & 0o777 == 0o600


def test_without_a_folder_nothing_is_stored() -> None:
    assert not NO_CACHE.store("a", b"1")
    assert NO_CACHE.load("a") == b""


def test_a_file_of_another_version_is_none(cache: Cache, folder: Path) -> None:
    cache.store("a", b"1")
    path = folder / "a"
    path.write_bytes(path.read_bytes().replace(b"policykit cache 1", b"policykit cache 0"))
    assert cache.load("a") == b""


def test_a_damaged_file_is_none(cache: Cache, folder: Path) -> None:
    cache.store("a", b"content")
    whole = (folder / "a").read_bytes()
    for number in (0, 20, len(whole) - 9, len(whole) - 1):
        (folder / "a").write_bytes(whole[:number] + bytes([whole[number] ^ 1]) + whole[number + 1 :])
        assert cache.load("a") == b""
        (folder / "a").write_bytes(whole[:number])
        assert cache.load("a") == b""
    (folder / "a").write_bytes(whole + b"\0")
    assert cache.load("a") == b""


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_not_used(cache: Cache, folder: Path, mode: int) -> None:
    cache.store("a", b"1")
    folder.chmod(mode)
    assert cache.load("a") == b""
    assert not cache.store("b", b"2")
    assert fault_of(str(folder)) == "is writable by other users: run chmod -R go-w on it, or use another one"


def test_a_file_that_others_can_write_to_is_not_used(cache: Cache, folder: Path) -> None:
    cache.store("a", b"1")
    (folder / "a").chmod(0o666)
    assert cache.load("a") == b""
    assert cache.store("a", b"2")
    assert cache.load("a") == b"2"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_not_used(cache: Cache, folder: Path) -> None:
    cache.store("a", b"1")
    os.chown(folder / "a", 12345, 12345)
    assert cache.load("a") == b""
    os.chown(folder / "a", 0, 0)
    os.chown(folder, 12345, 12345)
    assert cache.load("a") == b""
    assert not cache.store("b", b"2")
    assert fault_of(str(folder)) == "belongs to another user: use a folder of your own"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(cache: Cache, folder: Path) -> None:
    folder.mkdir(mode=0o500)
    assert not cache.store("a", b"1")


def test_a_file_in_the_place_of_the_folder(cache: Cache, folder: Path) -> None:
    folder.write_text("")
    assert not cache.store("a", b"1")
    assert cache.load("a") == b""
    assert fault_of(str(folder)) == "is not a folder: use another one"


def test_a_link_in_the_place_of_the_folder(cache: Cache, folder: Path, tmp_path: Path) -> None:
    """The path of a cache has no links: one was put there since."""
    elsewhere = Cache(str(tmp_path / "elsewhere"))
    elsewhere.store("a", b"1")
    folder.symlink_to(tmp_path / "elsewhere")
    assert cache.load("a") == b""
    assert not cache.store("a", b"2")
    assert elsewhere.load("a") == b"1"


def test_only_regular_files_are_read(cache: Cache, folder: Path, tmp_path: Path) -> None:
    cache.store("a", b"1")
    (folder / "a").rename(tmp_path / "outside")
    (folder / "a").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "device").symlink_to("/dev/zero")
    with (folder / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    for name in ("a", "pipe", "folder", "device", "huge"):
        assert cache.load(name) == b"", name
    assert cache.store("a", b"2")
    assert cache.store("pipe", b"2")
    assert not cache.store("folder", b"2")
    assert cache.load("a") == cache.load("pipe") == b"2"
    assert (tmp_path / "outside").read_bytes().endswith(b"1"), "the link was replaced, not followed"
    assert not list(folder.glob("*.part"))


def test_what_is_too_large_is_not_written(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", (1 << 20) + 3)
    assert cache.store("a", b"123")
    assert not cache.store("a", b"1234")
    assert cache.load("a") == b"123"


def test_parts_of_runs_that_were_killed_go(cache: Cache, folder: Path) -> None:
    cache.store("a", b"1")
    for name, age in (("a.0011.part", 2), ("b.0022.part", 0)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, times=(time.time() - age * 24 * 3600,) * 2)
    assert cache.store("c", b"1")
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b.0022.part", "c"]


def test_a_reader_beside_two_writers_sees_one_or_the_other(cache: Cache) -> None:
    contents = [b"1" * 100_000, b"2" * 200_000]
    cache.store("a", contents[0])
    done: list[bool] = []

    def write(content: bytes) -> None:
        done.append(all(cache.store("a", content) for _ in range(40)))

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    seen = set()
    try:
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            seen.add(cache.load("a"))
    finally:
        for writer in writers:
            writer.join()
    assert done == [True, True]
    assert seen <= set(contents)
    assert [path.name for path in Path(cache.folder).iterdir()] == ["a"]


def test_a_checkout_is_told_by_its_files() -> None:
    lines = module._head().decode().splitlines()
    assert any(line.startswith("codec.py ") for line in lines)
    assert any(line.startswith("policy.json ") for line in lines)
    assert any(line.startswith("hybrid-volcano.yaml ") for line in lines)


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


@given(st.dictionaries(st.binary(min_size=KEY, max_size=KEY), st.binary(max_size=20), max_size=5))
def test_entries_come_back_in_their_order(entries: dict[bytes, bytes]) -> None:
    assert list(unpack(pack(entries)).items()) == list(entries.items())


def test_nothing_has_no_entries() -> None:
    assert unpack(b"") == {}


@given(st.binary(min_size=1, max_size=80))
def test_any_other_bytes_are_refused(raw: bytes) -> None:
    try:
        entries = unpack(raw)
    except DamagedError:
        return
    assert len(pack(entries)) <= len(raw)


@pytest.mark.parametrize(
    "raw",
    [b"\0", b"\0\0\0\1", b"\xff" * 4, pack({b"k" * KEY: b"entry"})[:-1], pack({b"k" * KEY: b"entry"}) + b"x"],
    ids=["short", "no row", "as many as there can be", "cut off", "longer"],
)
def test_another_length_is_refused(raw: bytes) -> None:
    with pytest.raises(DamagedError):
        unpack(raw)
