"""What a commit has instead of the files of a run, where it has the same files otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from policykit.workspace import filesystem
from policykit.workspace.cache.runs import OF_CONTENT, path_of
from policykit.workspace.files import SUFFIXES
from policykit.workspace.git import LINK, SUBMODULE, TreeEntry, contents, is_written, names_of, tree
from policykit.workspace.safe_paths import names_git


def other_contents(
    root: str, commit: str, places: Sequence[str], questions: Iterable[str]
) -> Mapping[int, bytes] | None:
    """The bytes of each file that is another one in a commit, by its index in `places`.

    `root`: real path of the repository; `places`: real paths of the files of a run, empty for those that are
    among its questions; `questions`: what else the run asked, as `filesystem` asks it. None: the commit has
    other files too, or none of some, or would answer otherwise. Raises OSError or SourceError.
    """
    committed = _Committed(root, tree(root, commit))
    numbers = {number: committed.name(place) for number, place in enumerate(places) if place}
    read = [*numbers.values()]
    if not committed.has_all(read):
        return None
    for question in questions:
        name = committed.name(os.path.realpath(path_of(question)))
        if not committed.answers_alike(question, name):
            return None
        if name in committed.files and question.startswith(OF_CONTENT):
            read.append(name)
    if not committed.is_checked_out(read) or any(map(_is_quoted, read)):
        return None
    others = committed.others(read)
    if not others <= {*numbers.values()}:
        return None
    wanted = {number: committed.files[name] for number, name in numbers.items() if name in others}
    found = dict(contents(root, [*wanted.values()]))
    there = {number: raw for number, each in wanted.items() if (raw := found[each]) is not None}
    return there if len(there) == len(wanted) else None


class _Committed:
    """The files of a commit, beside those of the work tree."""

    def __init__(self, root: str, entries: Sequence[TreeEntry]) -> None:
        self._root = root
        self._below = os.path.join(root, "")
        self._is_plain = not any(each.mode in (LINK, SUBMODULE) for each in entries)
        self.files = {each.path: each for each in entries}
        self._folders = {""}
        for name in self.files:
            folder = os.path.dirname(name)
            while folder not in self._folders:
                self._folders.add(folder)
                folder = os.path.dirname(folder)

    def name(self, path: str) -> str:
        """A path relative to the root; `..` for what is elsewhere."""
        if path.startswith(self._below):
            return path[len(self._below) :]
        return "" if path == self._root else os.pardir

    def has_all(self, names: Sequence[str]) -> bool:
        """Whether the commit has files with these names, and no name in it leads to another file or
        repository."""
        return self._is_plain and self.files.keys() >= {*names}

    def is_checked_out(self, read: Sequence[str]) -> bool:
        """Whether the work tree has all files of the commit; those in `read` are read later."""
        return all(os.path.lexists(self._below + name) for name in self.files.keys() - {*read})

    def others(self, names: Sequence[str]) -> set[str]:
        """Files that have other contents in the work tree. Raises SourceError."""
        pairs = zip(names, names_of(self._root, names), strict=True)
        return {name for name, of_content in pairs if self.files[name].object != of_content}

    def answers_alike(self, question: str, name: str) -> bool:
        """Whether a question about a path, but for contents, has the same answer in the commit, where all
        that the commit has is checked out. Raises OSError."""
        path = self._below + name
        if name == os.pardir or names_git(name) or not os.path.lexists(path):
            return True
        if question.startswith("n"):
            return name not in self._folders or not any(map(self._is_more, filesystem.entries(path)))
        file = self.files.get(name)
        if file and question.startswith(OF_CONTENT):
            return is_written(file._replace(size=os.stat(path).st_size))
        return file is not None or name in self._folders

    def _is_more(self, entry: os.DirEntry[str]) -> bool:
        """Whether a file in a folder of the commit is a manifest that it does not have."""
        return entry.name.endswith(SUFFIXES) and self.name(entry.path) not in self.files


def _is_quoted(name: str) -> bool:
    """Whether a line with this name would be another one for git."""
    return "\n" in name or name.startswith('"')
