"""Cache of the file system, valid for one command or one change in an editor."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Disk:
    """Cached results, and texts that replace files."""

    __slots__ = ("answers", "texts")

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        """`texts`: contents of files open in an editor, saved or not, by absolute path."""
        self.texts = texts
        self.answers: dict[Hashable, Any] = {}


_DISK: ContextVar[Disk] = ContextVar("disk")
_DISK.set(Disk({}))


_UNASKED = object()


def reset(texts: Mapping[str, bytes] | None = None) -> None:
    """Clears the cache; `texts`: contents that replace files, by absolute path."""
    _DISK.set(Disk(texts or {}))


def editor_text(path: str) -> bytes | None:
    """The contents of a file in the editor; None: it is not open there."""
    texts = _disk().texts
    return texts.get(os.path.abspath(path)) if texts else None


def cached(ask: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Caches a function of positional arguments until the next `reset`."""

    @wraps(ask)
    def answer(*about: Arguments.args, **none: Arguments.kwargs) -> Answer:
        answers = _disk().answers
        key = (ask, about)
        found: Any = answers.get(key, _UNASKED)
        if found is _UNASKED:
            found = answers[key] = ask(*about, **none)
        return found  # type: ignore[no-any-return]

    return answer


def _disk() -> Disk:
    """The cache of this thread; a new thread starts with an empty one."""
    found = _DISK.get(None)
    if found is None:
        found = Disk({})
        _DISK.set(found)
    return found
