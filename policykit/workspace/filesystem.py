"""Questions about files. With the command line, the answers are all that the output of a run depends on.

What is asked while a record is open is noted in it, so that a later run can ask the same again. Imports
little: a recorded run is repeated before anything else is imported."""

from __future__ import annotations

import errno
import os
import stat
from contextvars import ContextVar

try:
    from _blake2 import (
        blake2b,  # hashlib, which has it from there, takes longer to import than a file to read
    )
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False  # to import typing takes longer, too
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    Answer = TypeVar("Answer", bool, int, str)

_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Links are not followed, and opening a pipe does not wait for its other end."""
_SMALL = 1 << 16
"""Bytes that are read at once."""
_UNDIGESTED = 1 << 22
"""Bytes of contents that a record keeps instead of their digests."""


class Record:
    """What a run asked, and what it printed."""

    __slots__ = ("_answers", "_contents", "_left", "cache", "complete", "decisive", "linted", "printed")

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}
        self._contents: dict[str, bytes] = {}
        self._left = _UNDIGESTED
        self.printed: list[tuple[str, bytes]] = []
        """Texts, each with the file that it was written to; `-` is standard output, `2` standard error."""
        self.complete = True
        """False: the run depends on something else, too."""
        self.linted = False
        """Whether what is read at the moment is only linted."""
        self.decisive: set[str] = set()
        """Questions about contents that decided more: what is linted, and by which settings."""
        self.cache = ""
        """The cache folder to store it in; empty: it is not worth that."""

    def note(self, question: str, answer: str) -> None:
        """Notes an answer. Files that change while they are read are read again by the next run."""
        if self._answers.setdefault(question, answer) != answer:
            self.complete = False

    def note_content(self, question: str, content: bytes) -> None:
        """Notes the answer to a question about contents. Those of a small run, which is not kept, are never
        digested."""
        self._left -= len(content)
        if not self.linted:
            self.decisive.add(question)
        if self._left < 0:
            self.note(question, _digest(content))
        elif self._contents.setdefault(question, content) != content:
            self.complete = False

    def answers(self) -> dict[str, str]:
        """By question: a letter for what is asked, and the path."""
        for question, content in self._contents.items():
            self.note(question, _digest(content))
        self._contents.clear()
        return self._answers


_RECORD: ContextVar[Record | None] = ContextVar("record", default=None)


def record() -> Record | None:
    """The open record; None: nothing is recorded."""
    return _RECORD.get()


def open_record() -> Record:
    """Opens a new record: from now on, what is asked and printed is noted in it."""
    new = Record()
    _RECORD.set(new)
    return new


def close_record() -> None:
    """Closes the open record, if there is one."""
    _RECORD.set(None)


class Recorded:
    """A block that is recorded by itself: afterwards, the record that was open before it is open again."""

    __slots__ = ("_before",)

    def __enter__(self) -> Record:
        self._before = _RECORD.get()
        return open_record()

    def __exit__(self, *_: object) -> None:
        _RECORD.set(self._before)


def keep_record(folder: str) -> None:
    """Says that the open record is worth being stored in a cache folder."""
    found = _RECORD.get()
    if found is not None:
        found.cache = folder


class ToLint:
    """A block that reads files to lint them, and decides nothing else by their contents."""

    __slots__ = ()

    def __enter__(self) -> None:
        found = _RECORD.get()
        if found is not None:
            found.linted = True

    def __exit__(self, *_: object) -> None:
        found = _RECORD.get()
        if found is not None:
            found.linted = False


def note_printed(where: str, text: bytes) -> None:
    """Notes a text that is printed: to a file, to standard output `-` or to standard error `2`."""
    found = _RECORD.get()
    if found is not None:
        found.printed.append((where, text))


def cannot_repeat() -> None:
    """Says that the run depends on something that is not asked here: another program, a pipe, the clock."""
    found = _RECORD.get()
    if found is not None:
        found.complete = False


def ancestors(folder: str) -> Iterator[str]:
    """The folder itself, absolute, then its parents up to the root."""
    here = os.path.abspath(folder)
    while True:
        yield here
        parent = os.path.dirname(here)
        if parent == here:
            return
        here = parent


def exists(path: str) -> bool:
    """As `os.path.exists`, and so are the other functions of that name there."""
    return _noted("e", path, os.path.exists(path))


def lexists(path: str) -> bool:
    return _noted("l", path, os.path.lexists(path))


def isdir(path: str) -> bool:
    return _noted("d", path, os.path.isdir(path))


def isfile(path: str) -> bool:
    return _noted("f", path, os.path.isfile(path))


def islink(path: str) -> bool:
    return _noted("k", path, os.path.islink(path))


def realpath(path: str) -> str:
    return _noted("r", path, os.path.realpath(path))


def size(path: str) -> int:
    """Bytes of a file; 0: it is not a regular file, or its size is unknown."""
    return _noted("s", path, _size(path))


def executable(path: str) -> str:
    """The state of a program, which changes when it is replaced; empty: it is none."""
    return _noted("x", path, _executable(path))


def names(folder: str) -> list[str]:
    """Names in a folder, sorted. Raises OSError."""
    return [entry.name for entry in entries(folder)]


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder contains, sorted by name, with the kind of each. Raises OSError."""
    found = _RECORD.get()
    try:
        there = _scanned(folder)
    except OSError as error:
        if found is not None:
            found.note(f"n{folder}", _failed(error))
        raise
    if found is not None:
        found.note(f"n{folder}", _listing(there))
    return there


def walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk`: links to folders are not followed, what cannot be read is empty."""
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            there = entries(here)
        except OSError:
            continue
        links = {each.name for each in there if each.is_symlink()}
        is_folder = {each.name: isdir(each.path) if each.name in links else each.is_dir() for each in there}
        folders = [name for name in is_folder if is_folder[name]]
        yield here, folders, [name for name in is_folder if not is_folder[name]]
        pending += [os.path.join(here, name) for name in reversed(folders) if name not in links]


def note_content(path: str, content: bytes, part: int = 0) -> None:
    """Notes what was read of a file, whose path has no links; `part`: the first bytes only."""
    found = _RECORD.get()
    if found is not None:
        found.note_content(f"h{part} {path}" if part else f"c{path}", content)


def note_remotes(root: str, urls: tuple[str, ...]) -> None:
    """Notes the URLs of the remotes in the configuration of git."""
    found = _RECORD.get()
    if found is not None:
        found.note(f"g{root}", repr(urls))


def note_unreadable(path: str, error: OSError, part: int = 0) -> None:
    """Notes that a file could not be opened or read."""
    found = _RECORD.get()
    if found is not None:
        found.note(f"h{part} {path}" if part else f"c{path}", _failed(error))


def again(question: str) -> str:
    """The answer now. Raises ValueError for what is not a question."""
    known = _ANSWERS.get(question[:1])
    if known is None:
        raise ValueError(f"{question!r} is not a question")
    return known(question[1:])


def regular(path: str, most: int = 1 << 28) -> tuple[bytes, os.stat_result]:
    """The bytes and the state of a regular file that is not a link and not larger. Raises OSError."""
    descriptor = os.open(path, _OPEN)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most:
            raise OSError(errno.EISDIR if stat.S_ISDIR(state.st_mode) else errno.EFBIG, "not a file to read")
        content = os.read(descriptor, state.st_size + 1)
        if len(content) == state.st_size:
            return content, state
        parts = [content]  # it grows or shrinks meanwhile
        while content and sum(map(len, parts)) <= most:
            content = os.read(descriptor, _SMALL)
            parts.append(content)
        return b"".join(parts), state
    finally:
        os.close(descriptor)


def _noted(kind: str, path: str, answer: Answer) -> Answer:
    found = _RECORD.get()
    if found is not None:
        found.note(kind + path, str(answer))
    return answer


def _size(path: str) -> int:
    try:
        state = os.stat(path)
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def _executable(path: str) -> str:
    try:
        state = os.stat(path)
    except OSError:
        return ""
    is_one = stat.S_ISREG(state.st_mode) and os.access(path, os.X_OK)
    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}" if is_one else ""


def _scanned(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=_name)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _listing(there: list[os.DirEntry[str]]) -> str:
    """Names with the kind of each; no name contains a slash."""
    return "/".join([f"{each.name}/{_kind(each)}" for each in there])


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"


def _listed(folder: str) -> str:
    try:
        return _listing(_scanned(folder))
    except OSError as error:
        return _failed(error)


def _content(path: str) -> str:
    """Asked for every file of a tree, so the state of a small one is not asked for, which takes a third."""
    try:
        descriptor = os.open(path, _OPEN)
        try:
            content = os.read(descriptor, _SMALL)
        finally:
            os.close(descriptor)
        if len(content) == _SMALL:
            content, _ = regular(path)
        return blake2b(content, digest_size=20).hexdigest()
    except OSError as error:
        return _failed(error)


def _beginning(question: str) -> str:
    part, _, path = question.partition(" ")
    try:
        return _digest(regular(path)[0][: int(part)])
    except OSError as error:
        return _failed(error)


def digest(content: bytes) -> bytes:
    """A digest of 20 bytes."""
    return blake2b(content, digest_size=20).digest()


def _digest(content: bytes) -> str:
    return digest(content).hex()


def _failed(error: OSError) -> str:
    return f"error {error.errno}"


_ANSWERS: Mapping[str, Callable[[str], str]] = {
    "e": lambda path: str(os.path.exists(path)),
    "l": lambda path: str(os.path.lexists(path)),
    "d": lambda path: str(os.path.isdir(path)),
    "f": lambda path: str(os.path.isfile(path)),
    "k": lambda path: str(os.path.islink(path)),
    "r": os.path.realpath,
    "s": lambda path: str(_size(path)),
    "x": _executable,
    "n": _listed,
    "c": _content,
    "h": _beginning,
}
