"""A line on the terminal that says how far a long run has come."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TextIO

_PATIENCE = 2.0
"""Seconds before the line appears."""
_INTERVAL = 0.1
_ERASE = "\r\x1b[K"


class ProgressLine:
    """Shows `policykit: 120 of 3000 files` on a terminal, once a run has taken a while."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """`stream`: default standard error; nothing is written unless it is a terminal."""
        stream = stream or sys.stderr
        self._stream = stream if stream is not None and stream.isatty() else None
        self._next = monotonic() + _PATIENCE
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if self._stream is None or monotonic() < self._next:
            return
        self._next = monotonic() + _INTERVAL
        self._shown = True
        self._write(f"{_ERASE}policykit: {done} of {total} files")

    def erase(self) -> None:
        """Removes the line: other output follows."""
        if self._shown:
            self._shown = False
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        assert self._stream is not None
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._stream = None  # gone: the run goes on without it
            self._shown = False
