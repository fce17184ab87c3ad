"""Which files paths mean: folders walked, `.gitignore` and excludes honoured, loops ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policykit.errors import SourceError
from policykit.workspace.files import discover, excluded, read, repository_root, walk
from policykit.workspace.filesystem import ancestors


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*names: str, text: str = "a: 1\n") -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


TREE = (
    "a.yaml",
    "b.yml",
    "c.json",
    "d.txt",
    "sub/e.yaml",
    "sub/f.YAML",
    ".hidden/g.yaml",
    "node_modules/h.yaml",
    "go/pkg/mod/k8s.io/api@v0.20.4/testdata/i.yaml",
    "go/vendor/modules.txt",
    "go/vendor/k8s.io/api/j.yaml",
    "dep/Gopkg.lock",
    "dep/vendor/k8s.io/api/k.yaml",
    "charts/vendor/l.yaml",
    "team@various/m.yaml",
)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            ["."],
            [
                ".hidden/g.yaml",
                "a.yaml",
                "b.yml",
                "c.json",
                "charts/vendor/l.yaml",
                "sub/e.yaml",
                "team@various/m.yaml",
            ],
        ),
        (["sub"], ["sub/e.yaml"]),
        (["./sub/"], ["sub/e.yaml"]),
        (["d.txt"], ["d.txt"]),
        (["sub", "sub/e.yaml", "./sub"], ["sub/e.yaml"]),
        ([], []),
    ],
    ids=["folder", "inner", "spelt otherwise", "named outright", "named twice", "nothing"],
)
def test_discover(arguments: list[str], found: list[str]) -> None:
    write(*TREE)
    assert [file.path for file in discover(arguments)] == found


def test_the_argument_is_kept() -> None:
    write("sub/e.yaml")
    assert [file.argument for file in discover(["sub"])] == ["sub"]
    assert [file.argument for file in discover(["sub/e.yaml", "sub"])] == [""]


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        discover(["nope.yaml"])


@pytest.mark.parametrize(
    ("globs", "force", "found"),
    [
        (["sub"], False, ["a.yaml", "sub/e.yaml"]),
        (["sub"], True, ["a.yaml"]),
        (["*.yaml"], True, []),
    ],
)
def test_files_named_outright_are_excluded_only_by_force(
    globs: list[str], force: bool, found: list[str]
) -> None:
    write("a.yaml", "sub/e.yaml")
    assert [file.path for file in discover(["a.yaml", "sub/e.yaml"], globs, force)] == found


@pytest.mark.parametrize(
    ("path", "glob", "out"),
    [
        ("sub/e.yaml", "sub", True),
        ("sub/e.yaml", "sub/", True),
        ("sub/e.yaml", "sub/*", True),
        ("deep/sub/e.yaml", "sub/*", True),
        ("deep/e.yaml", "e.yaml", True),
        ("subs/e.yaml", "sub", False),
        ("e.yaml", "E.yaml", False),
    ],
)
def test_excluded(path: str, glob: str, out: bool) -> None:
    assert excluded(path, [glob]) is out


@pytest.mark.parametrize(
    ("ignores", "found"),
    [
        ({".gitignore": "a.yaml\n"}, ["sub/b.yaml"]),
        ({".gitignore": "/a.yaml\n"}, ["sub/a.yaml", "sub/b.yaml"]),
        ({".gitignore": "sub/\n"}, ["a.yaml"]),
        ({".gitignore": "*.yaml\n!b.yaml\n"}, ["sub/b.yaml"]),
        ({".gitignore": "*.yaml\n", "sub/.gitignore": "!a.yaml\n"}, ["sub/a.yaml"]),
        ({".gitignore": "!\n//\n\\\n[\nsub/b.yaml\n"}, ["a.yaml", "sub/a.yaml"]),
        ({".gitignore": "sub/b.yaml\r\n"}, ["a.yaml", "sub/a.yaml"]),
    ],
    ids=["name", "anchored", "folder", "negated", "nearest decides", "unreadable lines", "crlf"],
)
def test_gitignore(ignores: dict[str, str], found: list[str]) -> None:
    write("a.yaml", "sub/a.yaml", "sub/b.yaml")
    os.mkdir(".git")
    for name, text in ignores.items():
        write(name, text=text)
    assert list(walk(".")) == found


def test_a_gitignore_above_the_folder_holds_up_to_the_repository() -> None:
    os.makedirs("repository/.git")
    write(".gitignore", text="*\n")
    write("repository/.gitignore", text="b.yaml\n")
    write("repository/sub/a.yaml", "repository/sub/b.yaml")
    assert list(walk("repository/sub")) == ["repository/sub/a.yaml"]


def test_loops_of_links_end() -> None:
    write("sub/a.yaml")
    os.symlink("..", "sub/up")
    os.symlink("self.yaml", "self.yaml")
    os.symlink("self", "self")
    os.symlink("nowhere", "dangling.yaml")
    assert list(walk(".")) == ["sub/a.yaml"]


def test_a_folder_named_like_a_file_is_a_folder() -> None:
    write("x.yaml/in.yaml")
    assert [file.path for file in discover(["."])] == ["x.yaml/in.yaml"]


def test_a_folder_that_cannot_be_listed_is_given_itself() -> None:
    assert list(walk("gone")) == ["gone"]


@pytest.mark.parametrize("make", [os.mkdir, lambda path: os.symlink("nowhere", path)], ids=["folder", "link"])
def test_what_cannot_be_read(make: object) -> None:
    assert callable(make)
    make("x.yaml")
    with pytest.raises(SourceError, match=r"x\.yaml: cannot be read: (Is a directory|No such file)"):
        read("x.yaml")


def test_the_repository_is_the_nearest() -> None:
    os.makedirs("outer/.git")
    write("outer/inner/.git", text="gitdir: elsewhere\n")
    os.mkdir("outer/inner/sub")
    assert repository_root("outer/inner/sub") == os.path.abspath("outer/inner")
    assert repository_root("outer") == os.path.abspath("outer")
    assert list(ancestors("/a/b")) == ["/a/b", "/a", "/"]
