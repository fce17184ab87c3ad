"""The line that says how far a long run has come."""

from __future__ import annotations

import io

import pytest

from policykit.cli import progress
from policykit.cli.progress import ProgressLine


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    """A terminal that has been closed."""

    def write(self, text: str) -> int:
        raise OSError


def test_nothing_is_written_in_the_first_seconds() -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line(1, 2)
    line.erase()
    assert terminal.getvalue() == ""


def test_then_a_line_that_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)
    terminal = Terminal()
    line = ProgressLine(terminal)
    line(1, 20)
    line(2, 20)
    line.erase()
    line.erase()
    shown = [f"\r\x1b[Kpolicykit: {number} of 20 files" for number in (1, 2)]
    assert terminal.getvalue() == "".join([*shown, "\r\x1b[K"])


def test_not_more_often_than_people_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_INTERVAL", 60.0)
    terminal = Terminal()
    line = ProgressLine(terminal)
    for number in range(20):
        line(number, 20)
    assert terminal.getvalue().count("files") == 1


def test_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(1, 2)
    line.erase()
    assert stream.getvalue() == ""


def test_a_terminal_that_is_gone_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    line = ProgressLine(Gone())
    line(1, 2)
    line(2, 2)
    line.erase()
