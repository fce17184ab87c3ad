"""Recorded runs: what is asked again, what ends a record, and what of a stored run is believed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from policykit.workspace import filesystem
from policykit.workspace.cache import runs
from policykit.workspace.cache.folder import KEY, Cache

WORDS = ["lint", "apps", "--format", "json=out.json"]
PRINTED = (
    ("out.json", b"{}\n"),
    ("-", b"\x1b[1;31mone\x1b[0m\n"),
    ("-", "zwei: ü\n".encode()),
    ("2", b"three\n"),
)
AGAIN = (("out.json", b"{}\n"), ("-", "\x1b[1;31mone\x1b[0m\nzwei: ü\n".encode()), ("2", b"three\n"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, with the cache beside it."""
    made = tmp_path / "repository"
    (made / "apps").mkdir(parents=True)
    (made / ".git").mkdir()
    (made / "apps" / "a.yaml").write_text("a: 1\n")
    (made / "apps" / "link.yaml").symlink_to("a.yaml")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.yaml").write_text("secret: 1\n")
    monkeypatch.chdir(made)
    monkeypatch.setenv("POLICYKIT_CACHE_DIR", str(tmp_path / "cache"))
    return made


def recorded(ask_all: Callable[[], object], code: int = 0, words: list[str] = WORDS) -> None:
    """Stores a run that asks this, and prints the same as each of these tests."""
    record = filesystem.open_record()
    try:
        ask_all()
    finally:
        filesystem.close_record()
    record.printed += PRINTED
    record.cache = os.environ["POLICYKIT_CACHE_DIR"]
    runs.store(words, record, code)


def read(path: str) -> None:
    """As a run reads a file that is not a link."""
    try:
        content, _ = filesystem.regular(path)
    except OSError as error:
        filesystem.note_unreadable(path, error)
    else:
        filesystem.note_content(path, content)


def test_a_run_is_repeated() -> None:
    assert runs.repeated(WORDS) is None
    recorded(lambda: filesystem.names("apps"), code=1)
    assert runs.repeated(WORDS) == (1, AGAIN)
    assert runs.repeated([*WORDS, "--exit-zero"]) is None
    assert runs.repeated([*WORDS, "--no-cache"]) is None


def here() -> str:
    return os.path.realpath("apps")


def change(path: str, text: str | None) -> None:
    """Writes, or deletes, a file."""
    file = Path(path)
    file.parent.mkdir(exist_ok=True)
    if text is None:
        file.unlink()
    else:
        file.write_text(text)


def install(path: str) -> None:
    change(path, "#!/bin/sh\n")
    Path(path).chmod(0o755)


def relink(target: str) -> None:
    Path("apps/link.yaml").unlink()
    Path("apps/link.yaml").symlink_to(target)


QUESTIONS: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
    ("a file", lambda: read(f"{here()}/a.yaml"), lambda: change("apps/a.yaml", "a: 2\n")),
    ("a file that is deleted", lambda: read(f"{here()}/a.yaml"), lambda: change("apps/a.yaml", None)),
    ("a file that is not there", lambda: read(f"{here()}/b.yaml"), lambda: change("apps/b.yaml", "")),
    ("what a folder contains", lambda: filesystem.names("apps"), lambda: change("apps/b.yaml", "")),
    ("a folder that is not there", lambda: list(filesystem.walk("more")), lambda: change("more/b.yaml", "")),
    ("all below a folder", lambda: list(filesystem.walk(".")), lambda: change("apps/b.yaml", "")),
    ("whether it exists", lambda: filesystem.exists("b"), lambda: change("b", "")),
    ("whether a link exists", lambda: filesystem.lexists("b"), lambda: Path("b").symlink_to("nowhere")),
    ("whether it is a folder", lambda: filesystem.isdir("b"), lambda: Path("b").mkdir()),
    ("whether it is a file", lambda: filesystem.isfile("b"), lambda: change("b", "")),
    ("whether it is a link", lambda: filesystem.islink("b"), lambda: Path("b").symlink_to("apps")),
    ("where a link leads", lambda: filesystem.realpath("apps/link.yaml"), lambda: relink("b.yaml")),
    ("how large it is", lambda: filesystem.size("apps/a.yaml"), lambda: change("apps/a.yaml", "a: 10\n")),
    (
        "a folder and a link in it",
        lambda: (filesystem.names("apps"), filesystem.realpath("apps/link.yaml")),
        lambda: relink("b.yaml"),
    ),
    (
        "a folder, and the size of a file that is not read",
        lambda: (filesystem.names("apps"), filesystem.size("apps/a.yaml")),
        lambda: change("apps/a.yaml", "a: 10\n"),
    ),
    (
        "a folder, and what is not in it",
        lambda: (
            filesystem.names("apps"),
            filesystem.exists("apps/b.yaml"),
            filesystem.realpath("apps/b.yaml"),
        ),
        lambda: change("apps/b.yaml", ""),
    ),
    (
        "a path with dots behind a link",
        lambda: (filesystem.names("."), filesystem.names("apps"), filesystem.realpath("apps/more/../a.yaml")),
        lambda: Path("apps/more").symlink_to("/"),
    ),
    (
        "a program that others are before",
        lambda: (filesystem.executable(os.path.abspath("tool")), filesystem.executable(sys.executable)),
        lambda: install("tool"),
    ),
]


@pytest.mark.parametrize(
    ("asked", "changes"), [case[1:] for case in QUESTIONS], ids=[case[0] for case in QUESTIONS]
)
def test_another_answer_ends_it(asked: Callable[[], object], changes: Callable[[], object]) -> None:
    recorded(asked)
    assert runs.repeated(WORDS) == (0, AGAIN)
    os.utime("apps/a.yaml", (1, 1))
    assert runs.repeated(WORDS) == (0, AGAIN), "only contents count"
    changes()
    assert runs.repeated(WORDS) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("POLICYKIT_TODAY", "2030-01-01"),
        ("PATH", "/nowhere"),
        ("FORCE_COLOR", "1"),
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
        ("GIT_DIR", "/nowhere"),
    ],
)
def test_the_environment_has_a_say(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(lambda: filesystem.names("apps"))
    monkeypatch.setenv(name, value)
    assert runs.repeated(WORDS) is None


def test_the_current_folder_has_a_say(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(lambda: filesystem.names(here()))
    monkeypatch.chdir("apps")
    assert runs.repeated(WORDS) is None


def twice() -> None:
    """A file that changes during a run."""
    read(f"{here()}/a.yaml")
    change("apps/a.yaml", "a: 3\n")
    read(f"{here()}/a.yaml")


NOT_STORED: list[tuple[str, Callable[[], object], int]] = [
    ("a run that failed", lambda: None, 2),
    ("another program", filesystem.cannot_repeat, 0),
    ("a file that changed meanwhile", twice, 0),
    ("a file outside the repository", lambda: read(os.path.realpath("../outside/a.yaml")), 0),
]


@pytest.mark.parametrize(
    ("asked", "code"), [case[1:] for case in NOT_STORED], ids=[case[0] for case in NOT_STORED]
)
def test_what_is_not_stored(asked: Callable[[], object], code: int) -> None:
    recorded(asked, code)
    assert runs.repeated(WORDS) is None


def test_files_outside_that_the_command_line_names() -> None:
    words = [*WORDS, "-p", "../outside/a.yaml"]
    recorded(lambda: read(os.path.realpath("../outside/a.yaml")), words=words)
    assert runs.repeated(words) == (0, AGAIN)


def stored() -> Iterator[tuple[str, bytes]]:
    for path in Path(os.environ["POLICYKIT_CACHE_DIR"]).glob("run-*"):
        yield path.name, Cache(str(path.parent)).load(path.name)


TAMPERED: list[tuple[str, list[str], tuple[tuple[str, bytes], ...]]] = [
    ("a file elsewhere is opened", ["c/etc/passwd"], AGAIN),
    ("the beginning of a file elsewhere", ["h99 /etc/passwd"], AGAIN),
    ("a file behind dots", ["c{here}/../../outside/a.yaml"], AGAIN),
    ("git is run elsewhere", ["g/etc"], AGAIN),
    ("no question", [""], AGAIN),
    ("another question", ["zapps"], AGAIN),
    ("a file that nobody named", [], (*AGAIN, ("other.json", b"{}\n"))),
    ("a file that is linted", [], (*AGAIN, ("apps", b"{}\n"))),
    ("an escape for terminals", [], (("-", b"\x1b]0;x\x07"),)),
    ("no codes of colours", [], (("-", b"\x1b[2Jx"),)),
    ("marks that change the direction of text", [], (("-", "\u202e".encode()),)),
    ("no UTF-8", [], (("2", b"\xff"),)),
]


@pytest.mark.parametrize(
    ("more", "texts"), [case[1:] for case in TAMPERED], ids=[case[0] for case in TAMPERED]
)
def test_what_nobody_stored_is_not_believed(more: list[str], texts: tuple[tuple[str, bytes], ...]) -> None:
    recorded(lambda: filesystem.names("apps"))
    ((name, raw),) = stored()
    questions, run = runs._decoded(raw[2 * KEY :])
    questions += [each.format(here=here()) for each in more]
    answers = raw[KEY : 2 * KEY]
    if all(map(str.strip, more)) and "zapps" not in more:
        answers = runs._digest(map(runs.again, questions))
    changed = raw[:KEY] + answers + runs._encoded(questions, run._replace(texts=texts))
    Cache(os.environ["POLICYKIT_CACHE_DIR"]).store(name, changed)
    assert runs.repeated(WORDS) is None


def test_what_is_damaged_is_as_good_as_none() -> None:
    recorded(lambda: filesystem.names("apps"))
    ((name, raw),) = stored()
    key = raw[: 2 * KEY]
    heads = (b"", b"\n", b"0\n", b"0 1 2\nabc", b"7 1\nd", b"0 -1 2 2\nabc", b"x 1\nd", b"0 1\n\xff")
    for damage in (b"", raw[:-1], *(key + head for head in heads)):
        Cache(os.environ["POLICYKIT_CACHE_DIR"]).store(name, damage)
        assert runs.repeated(WORDS) is None
