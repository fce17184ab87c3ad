"""What may be read and written: for each reason to ask and each form of path, the verdict."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path

import pytest

from policykit.errors import SourceError
from policykit.workspace import safe_paths
from policykit.workspace.command_state import permissions, reset

SECRET = b"token\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A repository `r` with another one inside, a folder `plain` in no repository, and what is outside."""
    for name in (
        "r/a.yaml",
        "r/apps/a.yaml",
        "r/.git/config",
        "r/vendor/.git/config",
        "r/vendor/a.yaml",
        "r/worktree/.git",
        "r/worktree/a.yaml",
        "r/.github/a.yaml",
        "plain/a.yaml",
        "plain/sub/a.yaml",
        "r-beside/a.yaml",
        "outside/a.yaml",
        "other/.git/config",
        "other/a.yaml",
        "other/deep/a.yaml",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SECRET)
    links = {
        "r/link.yaml": "../outside/a.yaml",
        "r/absolute.yaml": str(tmp_path / "outside/a.yaml"),
        "r/inside.yaml": "apps/a.yaml",
        "r/twice.yaml": "link.yaml",
        "r/folder": "../outside",
        "r/root": "/",
        "r/other": "../other",
        "r/git.yaml": ".git/config",
        "r/git": ".git",
        "r/apps/up.yaml": "../a.yaml",
        "r/vendor/up.yaml": "../a.yaml",
        "r/loop": "loop",
        "r/x": "y/1",
        "r/y": "x/2",
        "r/gone.yaml": "nowhere",
        "plain/link.yaml": "../outside/a.yaml",
        "plain/sub/up.yaml": "../a.yaml",
        "plain/deep": "../other/deep",
        "way": "r",
        "apps": "r/apps",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    safe_paths.begin()
    yield
    safe_paths.begin()


def verdict(ask: object, *words: str) -> str:
    assert callable(ask)
    try:
        ask(*words)
    except SourceError as error:
        what = error.message.removeprefix("cannot be read: ").removeprefix("cannot be written: ")
        return (
            "outside"
            if ", outside the " in what
            else ".git"
            if what.endswith("does not access .git")
            else what
        )
    return "ok"


NAMED = [
    ("r/a.yaml", "ok"),
    ("r/apps/../a.yaml", "ok"),
    ("./r//apps/./a.yaml", "ok"),
    ("way/a.yaml", "ok"),
    ("apps/a.yaml", "ok"),
    ("apps/up.yaml", "ok"),
    ("r/inside.yaml", "ok"),
    ("r/apps/up.yaml", "ok"),
    ("r/vendor/a.yaml", "ok"),
    ("r/worktree/a.yaml", "ok"),
    ("r/.github/a.yaml", "ok"),
    ("r/folder/../a.yaml", "ok"),
    ("r/link.yaml", "outside"),
    ("r/absolute.yaml", "outside"),
    ("r/twice.yaml", "outside"),
    ("r/folder/a.yaml", "outside"),
    ("way/folder/a.yaml", "outside"),
    ("r/root/etc/hostname", "outside"),
    ("r/other/a.yaml", "outside"),
    ("r/vendor/up.yaml", "outside"),
    ("r/git.yaml", ".git"),
    ("r/git/config", ".git"),
    ("r/.git/config", "ok"),
    ("r/loop", "Too many levels of symbolic links"),
    ("r/loop/a.yaml", "Too many levels of symbolic links"),
    ("r/x", "Too many levels of symbolic links"),
    ("r/x/a.yaml", "Too many levels of symbolic links"),
    ("r/gone.yaml", "No such file or directory"),
    ("r/apps", "Is a directory"),
    ("r/a.yaml/b.yaml", "Not a directory"),
    ("plain/a.yaml", "ok"),
    ("plain/link.yaml", "outside"),
    ("plain/sub/up.yaml", "outside"),
    ("plain/deep/a.yaml", "ok"),
    ("/proc/self/cwd/r/a.yaml", "ok"),
    ("/proc/self/cwd/r/link.yaml", "outside"),
]


@pytest.mark.parametrize(("path", "says"), NAMED)
def test_what_the_command_line_names_or_is_found_by_its_place(path: str, says: str) -> None:
    assert verdict(safe_paths.read, path) == says


SAID = [
    ("r/p.yaml", "r/a.yaml", "ok"),
    ("r/apps/p.yaml", "r/a.yaml", "ok"),
    ("r/apps/p.yaml", "r/apps/up.yaml", "ok"),
    ("way/p.yaml", "r/a.yaml", "ok"),
    ("r/p.yaml", "way/a.yaml", "ok"),
    ("apps/p.yaml", "r/a.yaml", "ok"),
    ("r/p.yaml", "r/vendor/a.yaml", "ok"),
    ("r/p.yaml", "outside/a.yaml", "outside"),
    ("r/p.yaml", "/etc/passwd", "outside"),
    ("r/p.yaml", "/proc/self/environ", "outside"),
    ("r/p.yaml", "/proc/self/root/etc/passwd", "outside"),
    ("r/p.yaml", "/dev/stdin", "outside"),
    ("r/p.yaml", "/dev/fd/0", "outside"),
    ("r/p.yaml", "//etc/passwd", "outside"),
    ("r/p.yaml", "r-beside/a.yaml", "outside"),
    ("r/p.yaml", "other/a.yaml", "outside"),
    ("r/p.yaml", "r/link.yaml", "outside"),
    ("r/p.yaml", "r/folder/a.yaml", "outside"),
    ("r/p.yaml", "r/other/a.yaml", "outside"),
    ("r/p.yaml", "r/.git/config", ".git"),
    ("r/p.yaml", "r/git.yaml", ".git"),
    ("r/p.yaml", "r/vendor/.git/config", ".git"),
    ("r/vendor/p.yaml", "r/a.yaml", "outside"),
    ("r/worktree/p.yaml", "r/a.yaml", "outside"),
    ("plain/p.yaml", "plain/a.yaml", "ok"),
    ("plain/p.yaml", "plain/sub/a.yaml", "ok"),
    ("plain/sub/p.yaml", "plain/a.yaml", "outside"),
    ("plain/p.yaml", "r/a.yaml", "outside"),
    ("plain/p.yaml", "plain/deep/a.yaml", "outside"),
    ("r/p.yaml", "r/a\0.yaml", "a path cannot contain a NUL character"),
]


@pytest.mark.parametrize(("by", "path", "says"), SAID)
def test_what_a_file_names(by: str, path: str, says: str) -> None:
    assert verdict(safe_paths.read, path, by) == says


def test_the_boundary_without_a_repository_is_the_folder_argument_above() -> None:
    safe_paths.add_argument("plain")
    assert verdict(safe_paths.read, "plain/a.yaml", "plain/sub/p.yaml") == "ok"
    assert verdict(safe_paths.read, "plain/sub/up.yaml") == "ok"
    assert verdict(safe_paths.read, "plain/link.yaml") == "outside"
    assert verdict(safe_paths.read, "outside/a.yaml", "plain/sub/p.yaml") == "outside"
    safe_paths.add_argument(".")
    assert verdict(safe_paths.read, "outside/a.yaml", "plain/sub/p.yaml") == "ok"
    assert verdict(safe_paths.read, "outside/a.yaml", "r/p.yaml") == "outside"


@pytest.mark.parametrize(
    ("allowed", "by", "path", "says"),
    [
        ("outside", "", "r/link.yaml", "ok"),
        ("outside", "r/p.yaml", "outside/a.yaml", "ok"),
        ("outside/a.yaml", "r/p.yaml", "outside/a.yaml", "ok"),
        ("r/folder", "r/p.yaml", "outside/a.yaml", "ok"),
        ("outside", "r/p.yaml", "other/a.yaml", "outside"),
        ("out", "r/p.yaml", "outside/a.yaml", "outside"),
        ("/", "r/p.yaml", "outside/a.yaml", "ok"),
        ("/", "r/p.yaml", "r/.git/config", ".git"),
        ("r/.git", "r/p.yaml", "r/.git/config", ".git"),
    ],
)
def test_only_what_is_allowed_widens_it(allowed: str, by: str, path: str, says: str) -> None:
    safe_paths.begin([allowed])
    assert verdict(safe_paths.read, path, by) == says


WRITTEN = [
    ("writable", "r/a.yaml", "", "ok"),
    ("writable", "r/new/b.yaml", "", "ok"),
    ("writable", "r/inside.yaml", "", "ok"),
    ("writable", "r/link.yaml", "", "outside"),
    ("writable", "r/folder/new.yaml", "", "outside"),
    ("writable", "r/.git/config", "", ".git"),
    ("writable", "r/git.yaml", "", ".git"),
    ("writable", "r/git/hooks/x.yaml", "", ".git"),
    ("writable", "r/out", "r/p.yaml", "ok"),
    ("writable", "r/apps/../out", "r/p.yaml", "ok"),
    ("writable", "outside", "r/p.yaml", "outside"),
    ("writable", "/tmp", "r/p.yaml", "outside"),
    ("writable", "r/folder", "r/p.yaml", "outside"),
    ("writable", "r/.git/hooks", "r/p.yaml", ".git"),
    ("writable", "r/.GIT/hooks", "r/p.yaml", ".git"),
    ("writable", "r/.Git. /hooks", "r/p.yaml", ".git"),
    ("writable", "r/vendor/.git/hooks", "r/p.yaml", ".git"),
    ("writable", "r/.github", "r/p.yaml", "ok"),
    ("writable", "plain/out", "plain/p.yaml", "ok"),
    ("writable", "out", "plain/p.yaml", "outside"),
    ("output", "outside/report.txt", "", "ok"),
    ("output", "r/report.txt", "", "ok"),
    ("output", "r/inside.yaml", "", "ok"),
    ("output", "r/.git/report.txt", "", "ok"),
    ("output", "plain/link.yaml", "", "ok"),
    ("output", "/dev/stderr", "", "ok"),
    ("output", "r/link.yaml", "", "outside"),
    ("output", "r/folder/report.txt", "", "outside"),
    ("output", "r/git.yaml", "", ".git"),
    ("output", "r/git/report.txt", "", ".git"),
    ("output_folder", "outside", "", "ok"),
    ("output_folder", "r/out", "", "ok"),
    ("output_folder", "r", "", "ok"),
    ("output_folder", "r/folder", "", "outside"),
    ("output_folder", "r/.git/hooks", "", ".git"),
    ("output_folder", "r/.git", "", ".git"),
]


@pytest.mark.parametrize(("reason", "path", "by", "says"), WRITTEN)
def test_what_is_written(reason: str, path: str, by: str, says: str) -> None:
    assert verdict(getattr(safe_paths, reason), path, *([by] if by else [])) == says


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("a.yaml", "ok"),
        ("new/b.yaml", "ok"),
        ("inside.yaml", "ok"),
        ("link.yaml", "outside"),
        ("folder/b.yaml", "outside"),
        (".git/hooks/x", ".git"),
        ("../outside/a.yaml", "outside"),
    ],
)
def test_what_is_written_below_a_folder(path: str, says: str) -> None:
    folder = safe_paths.output_folder("r")

    def ask() -> None:
        try:
            safe_paths.below(folder, path)
        except SourceError as error:
            raise SourceError(error.message.replace(", outside /", ", outside the /")) from None

    assert verdict(ask) == says


def test_errors_name_the_file_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as raised:
        safe_paths.read("r/link.yaml")
    assert str(raised.value) == (
        f"r/link.yaml: cannot be read: it resolves to {tmp_path}/outside/a.yaml, outside the repository"
        f" {tmp_path}/r\n  help: keep it inside, or allow it: --allow-path outside"
    )
    with pytest.raises(SourceError) as raised:
        safe_paths.writable("plain/new", by="plain/sub/p.yaml")
    assert str(raised.value) == (
        f"plain/new: cannot be written: it resolves to {tmp_path}/plain/new, outside the folder"
        f" {tmp_path}/plain/sub\n  help: keep it inside, or allow it: --allow-path plain"
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "it is not a regular file"),
        (lambda path: os.symlink("/dev/zero", path), "outside"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 3 << 20), "it is larger than 2 MB"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 2 << 20), "ok"),
    ],
    ids=["pipe", "device", "large", "just small enough"],
)
def test_only_regular_files_of_a_size_are_read(make: object, says: str) -> None:
    assert callable(make)
    make("r/new.yaml")
    assert verdict(lambda: safe_paths.read("r/new.yaml", most=2 << 20)) == says
    assert verdict(lambda: safe_paths.read("r/new.yaml", "r/p.yaml", most=2 << 20)) == says


def test_a_device_that_is_allowed_is_no_file() -> None:
    safe_paths.begin(["/dev"])
    assert verdict(safe_paths.read, "/dev/zero", "r/p.yaml") == "it is not a regular file"
    assert verdict(safe_paths.read, "/dev/zero") == "it is not a regular file"


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_what_a_shell_hands_over_is_read_and_kept(folder: str) -> None:
    reading, writing = os.pipe()

    def send() -> None:
        with suppress(BrokenPipeError), open(writing, "wb") as stream:
            stream.write(b"a" * 300_000)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        assert safe_paths.read(f"{folder}/{reading}") == b"a" * 300_000
        assert safe_paths.read(f"{folder}/{reading}") == b"a" * 300_000
        assert verdict(safe_paths.read, f"{folder}/{reading}", "r/p.yaml") == "outside"
    finally:
        os.close(reading)
        sender.join()


def test_a_pipe_has_a_size_too() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a" * 5000)
    os.close(writing)
    try:
        with pytest.raises(SourceError, match="it is larger than 0 MB"):
            safe_paths.read(f"/dev/fd/{reading}", most=4999)
    finally:
        os.close(reading)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 3_000_000])
def test_bytes_come_whole(size: int) -> None:
    content = os.urandom(size)
    Path("r/new.bin").write_bytes(content)
    assert safe_paths.read("r/new.bin") == content
    assert safe_paths.read("r/new.bin", part=100) == content[:100]


def test_what_tells_no_size_is_read_to_its_end() -> None:
    assert safe_paths.read("/proc/self/status").startswith(b"Name:")


def test_long_ways_are_no_deep_recursion() -> None:
    deep = "/".join(["d"] * 1200)
    assert verdict(safe_paths.read, f"r/{deep}/a.yaml") == "No such file or directory"
    assert verdict(safe_paths.read, f"outside/{deep}/a.yaml", "r/p.yaml") == "outside"
    assert verdict(safe_paths.read, f"r/{'d/' * 4000}a.yaml") == "File name too long"


def test_permissions_belong_to_a_command() -> None:
    safe_paths.begin(["outside"])
    safe_paths.add_argument("plain")
    reset({})
    assert verdict(safe_paths.read, "outside/a.yaml", "r/p.yaml") == "ok"
    assert permissions().arguments == [os.path.abspath("plain")]
    safe_paths.begin()
    assert verdict(safe_paths.read, "outside/a.yaml", "r/p.yaml") == "outside"
    assert not permissions().arguments


def test_a_thread_has_permissions_only_from_the_context_of_its_command() -> None:
    def ask() -> str:
        return verdict(safe_paths.read, "outside/a.yaml", "r/p.yaml")

    safe_paths.begin(["outside"])
    with ThreadPoolExecutor(2) as pool:
        assert pool.submit(ask).result() == "outside"
        assert pool.submit(copy_context().run, ask).result() == "ok"
