"""What is known of the disk while one look at it lasts: one command, or one change in an editor."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Disk:
    """Answers that were asked of the disk, and texts that count instead of files there."""

    __slots__ = ("answers", "texts")

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        """`texts`: what an editor holds of files, saved or not, by absolute path."""
        self.texts = texts
        self.answers: dict[Hashable, Any] = {}


_DISK: ContextVar[Disk] = ContextVar("disk")
_DISK.set(Disk({}))


def reset(texts: Mapping[str, bytes] | None = None) -> None:
    """Looks at the disk anew: nothing that was learnt before counts."""
    _DISK.set(Disk(texts or {}))


def editor_text(path: str) -> bytes | None:
    """The text that counts instead of a file; None: what the disk has counts."""
    texts = _disk().texts
    return texts.get(os.path.abspath(path)) if texts else None


def cached(ask: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Asks a question about the disk once in each look; its arguments are given by position."""

    @wraps(ask)
    def answer(*about: Arguments.args, **none: Arguments.kwargs) -> Answer:
        answers = _disk().answers
        key = (ask, about)
        if key not in answers:
            answers[key] = ask(*about, **none)
        return cast(Answer, answers[key])

    return answer


def _disk() -> Disk:
    """Another thread begins with nothing known."""
    found = _DISK.get(None)
    if found is None:
        found = Disk({})
        _DISK.set(found)
    return found
