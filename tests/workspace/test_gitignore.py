"""`.gitignore` as git reads it, held to git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policykit.workspace.files import walk
from policykit.workspace.gitignore import MAX_GLOBS, Gitignore

NAMES = (
    "a.yaml",
    "b.yaml",
    "ab.yaml",
    "foo.yaml",
    "foobar.yaml",
    " .yaml",
    "a .yaml",
    "a].yaml",
    "a-b.yaml",
    "[a].yaml",
    "!a.yaml",
    "#a.yaml",
    "\\a.yaml",
    "é.yaml",
    "A1.yaml",
    "a\nb.yaml",
)
FOLDERS = ("", "a/", "b/", "a/b/", "a/b/a/", "foo/", "foobar/", "foo/b/", "é/", "a/foo/bar/")
SIMPLE = ("a", "b", "foo", "bar", "é", " ", ".yaml", "/", "/", "/", "!", "#", "-")
WILD = ("*", "*", "**", "**", "***", "**/", "/**", "?", "\\", "\\*", "\\ ", "\\/")
SETS = ("[ab]", "[!ab]", "[^a]", "[a-f]", "[f-a]", "[a-]", "[]a]", "[]", "[", "]", "[/]", "[!x]", "[\\]a]")
CLASSES = ("[[:alpha:]]", "[[:upper:][:digit:]-]", "[[:punct:]]", "[[:space:]]", "[[:none:]]", "[[:alpha]")
PIECES = (*SIMPLE, *WILD, *SETS, *CLASSES, "[[:^alpha:]]", "[a-\\f]", "[à-ÿ]")
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
FILES = st.lists(LINES, max_size=4).map(lambda lines: "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    for folder in FOLDERS:
        for name in NAMES:
            path = root / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def by_git(root: Path) -> list[str]:
    command = ["git", "-c", f"core.excludesFile={os.devnull}", "-C", str(root)]
    command += ["ls-files", "--others", "--exclude-standard", "-z", "--", "*.yaml"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout
    return sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)


@given(FILES, FILES)
@settings(max_examples=100)
@example("foo**\n", "")
@example("/foo**/bar\n", "")
@example("foo/\n/fo/\na/\n", "!b\n")
@example("*a*a*\n!*b*\n", "*\n!a.yaml\n")
@example("a \\ \n a\t\na\r\n", "")
@example("\ufeffa.yaml\n", "")
def test_the_same_files_as_git(repository: Path, at_the_root: str, below: str) -> None:
    (repository / ".gitignore").write_text(at_the_root, encoding="utf-8", newline="")
    (repository / "a" / ".gitignore").write_text(below, encoding="utf-8", newline="")
    found = sorted(os.path.relpath(path, repository) for path in walk(str(repository)))
    assert found == by_git(repository)


@pytest.mark.parametrize(
    ("pattern", "ignored"),
    [("*a" * 8 + "b", False), ("*a" * 8 + "*", True), ("**/a" * 8 + "/b", False), ("[a-b]*" * 8, True)],
)
def test_a_name_is_never_gone_over_again(pattern: str, ignored: bool) -> None:
    """Backtracking would take years."""
    name = "a" * 255 if "/" not in pattern else "a/" * 1_000 + "a"
    assert bool(Gitignore(pattern.encode()).verdict(name, False)) is ignored


def test_patterns_without_wildcards_inside_are_looked_up_however_many() -> None:
    lines = [f"name{n}\n*.end{n}\n/a/path{n}\n" for n in range(MAX_GLOBS)]
    ignored = Gitignore("".join(lines).encode())
    for name in ("b/name0", "x.end49999", "a/path7"):
        assert ignored.verdict(name, False) is True
    assert ignored.verdict("b/path7", False) is None


def test_of_other_patterns_only_so_many_characters_count() -> None:
    ignored = Gitignore(b"a*b\n" * (MAX_GLOBS // 3) + b"c*d\n/e/f\n")
    assert ignored.verdict("axb", False) is True
    assert ignored.verdict("cxd", False) is None
    assert ignored.verdict("e/f", False) is True
