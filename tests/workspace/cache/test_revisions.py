"""Findings of revisions in the cache: what they depend on, and what of an entry is believed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policykit.linter.baseline import Key
from policykit.workspace import filesystem
from policykit.workspace.cache.folder import Cache
from policykit.workspace.cache.revisions import KnownRevision, RevisionFindings

FOUND = RevisionFindings(
    {(Key("PK201", "Pod", "", "a", "/spec", "", "prod", "why"), "a.yaml"): 2},
    frozenset({"a.yaml", "b.yaml"}),
    frozenset({"b.yaml"}),
    ("a note",),
    ({"a.yaml": {"policykit.yaml": "prod"}}, {"prod": frozenset({"PK201"})}, frozenset({"apps"}), 1),
)
ABOUT = ("commit", ("a.yaml",))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache beside a temporary folder with a revision, which is the current one, and another file."""
    (tmp_path / "made" / "repository").mkdir(parents=True)
    (tmp_path / "made" / "repository" / "a.yaml").write_text("a: 1\n")
    (tmp_path / "outside.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path / "made" / "repository")
    return Cache(str(tmp_path / "cache"), str(tmp_path))


def stored(cache: Cache, ask: Callable[[Path], object]) -> None:
    folder = Path(cache.place)
    with filesystem.Recorded() as record:
        ask(folder)
        KnownRevision(cache, "r", ABOUT).store(FOUND, record, str(folder / "made"))


def test_findings_are_known_again(cache: Cache) -> None:
    assert KnownRevision(cache, "r", ABOUT).load() is None
    stored(cache, lambda folder: filesystem.isfile("a.yaml"))
    assert KnownRevision(cache, "r", ABOUT).load() == FOUND
    assert KnownRevision(cache, "r", ("another commit", *ABOUT[1:])).load() is None
    assert KnownRevision(cache, "another root", ABOUT).load() is None
    assert filesystem.record() is None


@pytest.mark.parametrize("name", ["PATH", "HOME", "POLICYKIT_TODAY"])
def test_variables_that_findings_depend_on(cache: Cache, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stored(cache, lambda folder: None)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index-17")
    assert KnownRevision(cache, "r", ABOUT).load() == FOUND
    monkeypatch.setenv(name, "/another")
    assert KnownRevision(cache, "r", ABOUT).load() is None


@pytest.mark.parametrize(
    ("ask", "is_kept"),
    [
        (lambda folder: filesystem.isfile(str(folder / "outside.yaml")), True),
        (lambda folder: filesystem.names(str(folder / "made" / "repository")), True),
        (lambda folder: filesystem.executable("/bin/sh"), True),
        (lambda folder: filesystem.note_content(str(folder / "made" / "repository" / "a.yaml"), b"a"), True),
        (lambda folder: filesystem.note_content(str(folder / "outside.yaml"), b"a: 1\n"), False),
        (lambda folder: filesystem.note_content(str(folder / "outside.yaml"), b"a", 1), False),
        (lambda folder: filesystem.note_remotes(str(folder), ("url",)), False),
        (lambda folder: filesystem.cannot_repeat(), False),
    ],
    ids=["a kind", "a listing", "a program", "inside", "contents", "a beginning", "remotes", "the clock"],
)
def test_what_a_run_may_depend_on(cache: Cache, ask: Callable[[Path], object], is_kept: bool) -> None:
    stored(cache, ask)
    assert (KnownRevision(cache, "r", ABOUT).load() == FOUND) == is_kept


@pytest.mark.parametrize("path", ["{}/outside.yaml", "../../outside.yaml"])
def test_an_answer_outside_has_changed(cache: Cache, path: str) -> None:
    stored(cache, lambda folder: filesystem.isfile(path.format(folder)))
    assert KnownRevision(cache, "r", ABOUT).load() == FOUND
    (Path(cache.place) / "outside.yaml").unlink()
    assert KnownRevision(cache, "r", ABOUT).load() is None


def test_damaged_entries_are_unknown(cache: Cache) -> None:
    stored(cache, lambda folder: None)
    (path,) = Path(cache.folder).glob("revision-*")
    known = KnownRevision(cache, "r", ABOUT)
    name = path.name
    whole = cache.load(name)
    for content in (b"", whole[:30], whole[:-2], whole.replace(b"PK201", b"PK2\xff1"), whole + b"[]"):
        cache.store(name, content)
        assert known.load() is None
