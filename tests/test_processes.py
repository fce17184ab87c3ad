"""Nothing that a test starts outlives it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes
from tests.processes import hang_guard, kill_all, now_open, started

FAMILY = """
import os, signal
if os.fork():
    print(os.getpid(), flush=True)
signal.pause()
"""
"""A process and its child, both of which never end."""

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="there is no /proc here")


def test_a_failing_test_leaves_no_process_of_the_group_and_no_pipe(tmp_path: Path) -> None:
    before = now_open()

    def fails(writing: int) -> None:
        command = [sys.executable, "-c", FAMILY]
        with started(command, cwd=tmp_path, env=os.environ, stderr=writing) as process:
            assert process.stdout
            assert process.stdout.readline() == f"{process.pid}\n"
            raise ZeroDivisionError

    reading, writing = os.pipe()
    with pytest.raises(ZeroDivisionError):
        fails(writing)
    os.close(writing)
    assert os.read(reading, 1) == b"", "both are gone that could write"
    os.close(reading)
    assert now_open() == before


def test_what_is_left_is_seen_and_killed(tmp_path: Path) -> None:
    before = now_open()
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"%d\n" % process.pid
    left = now_open() - before
    assert left.children == {process.pid}
    assert len(left.pipes) == 1
    kill_all(left.children)
    assert process.stdout.read() == b"", "its child held the pipe open, too"
    process.stdout.close()
    process.wait()
    assert now_open() == before


def test_what_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hung() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(processes, "HUNG", 1)
    with pytest.raises(ZeroDivisionError), hang_guard(hung):
        subprocess.run([sys.executable, "-c", FAMILY], capture_output=True, check=False)
