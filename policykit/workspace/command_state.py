"""The state of one command: what its command line allows, texts in the editor, and cached results."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from policykit.workspace import filesystem
from policykit.workspace.cache.folder import NO_CACHE

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Permissions:
    """What the command line allows, and the pipes that it names."""

    __slots__ = ("allowed", "arguments", "pipes")

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """`allowed`: paths of `--allow-path`."""
        self.allowed = tuple(map(filesystem.realpath, allowed))
        self.arguments: list[str] = []
        """Absolute paths of the folders that the command line names."""
        self.pipes: dict[tuple[int, int], bytes] = {}
        """Contents of pipes by device and inode: a pipe can be read only once."""


class Disk:
    """The permissions of a command, texts that replace files, and cached results."""

    __slots__ = ("answers", "contents", "free", "permissions", "texts")

    def __init__(self, permissions: Permissions, texts: Mapping[str, bytes]) -> None:
        """`texts`: contents of files open in an editor, saved or not, by absolute path."""
        self.permissions = permissions
        self.texts = texts
        self.answers: dict[Hashable, Any] = {}
        self.contents: dict[str, bytes] = {}
        """What was read to tell what a run consists of, and the run reads again, by absolute path."""
        self.free: dict[str, str] = {}
        """Absolute folders as written, with a separator at the end, to their real paths, if every file there
        that is not a link may be read; else to an empty text: each file has to be checked."""


_DISK: ContextVar[Disk] = ContextVar("disk")


def start(allowed: Permissions) -> None:
    """Starts a command with its permissions, and forgets everything about earlier commands."""
    _DISK.set(Disk(allowed, {}))


@contextmanager
def aside() -> Iterator[None]:
    """A run within a command, with other folder arguments. Afterwards the state is restored."""
    own = Permissions(permissions().allowed)
    token = _DISK.set(Disk(own, {}))
    try:
        yield
    finally:
        _DISK.reset(token)


_UNASKED = object()


def reset(texts: Mapping[str, bytes] | None = None) -> None:
    """Clears the cached results; `texts`: contents that replace files, by absolute path."""
    _DISK.set(Disk(permissions(), texts or {}))


def free_folders() -> dict[str, str]:
    """Folders of which every file may be read, as far as they are known."""
    return _disk().free


def permissions() -> Permissions:
    """The permissions of the running command."""
    return _disk().permissions


def editor_text(path: str) -> bytes | None:
    """The contents of a file in the editor; None: it is not open there."""
    texts = _disk().texts
    return texts.get(os.path.abspath(path)) if texts else None


def hand_over(contents: Mapping[str, bytes]) -> None:
    """Leaves contents of files, by absolute path, to the run that is opened."""
    _disk().contents.update(contents)


def handed_over() -> dict[str, bytes]:
    """The contents that were left, by absolute path. They are given once: files may change between runs."""
    disk = _disk()
    contents, disk.contents = disk.contents, {}
    return contents


def cached(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Caches a function of positional arguments until the next `reset`."""

    @wraps(function)
    def answer(*about: Arguments.args, **none: Arguments.kwargs) -> Answer:
        answers = _disk().answers
        key = (function, about)
        found: Any = answers.get(key, _UNASKED)
        if found is _UNASKED:
            found = answers[key] = function(*about, **none)
        return found  # type: ignore[no-any-return]

    return answer


class CommandBuilds:
    """The builds that tell what clusters apply: where they are cached, and what the command line allows."""

    __slots__ = ("cache", "left", "made", "until")

    def __init__(self) -> None:
        self.cache = NO_CACHE
        self.left = 10_000
        """How many more may be made."""
        self.until = float("inf")
        """Time of `time.monotonic` after which none begins."""
        self.made: dict[str, Any] = {}
        """Those made so far, by their roots: each is kept for the run that judges it."""


@cached
def builds_in_command() -> CommandBuilds:
    """The builds of the running command."""
    return CommandBuilds()


def _disk() -> Disk:
    """The state in this context. A thread started without its parent's context is allowed nothing."""
    found = _DISK.get(None)
    if found is None:
        found = Disk(Permissions(), {})
        _DISK.set(found)
    return found
