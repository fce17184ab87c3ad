"""Processes that tests start, and what must be left of a test: nothing, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

HUNG = 10 * 60
"""Seconds after which a test counts as hung. This says nothing about speed: the slowest takes a minute."""


@contextmanager
def started(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """A process in a group of its own. In the end the whole group is killed and its pipes are closed."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()


class Open(NamedTuple):
    """What this process has open that a test could leave behind."""

    children: frozenset[int]
    threads: frozenset[threading.Thread]
    pipes: frozenset[str]
    """Pipes and sockets, as the system calls them."""

    def __sub__(self, other: Open) -> Open:
        return Open(self.children - other.children, self.threads - other.threads, self.pipes - other.pipes)


def now_open() -> Open:
    """Empty where there is no /proc."""
    return Open(frozenset(_children(os.getpid())), frozenset(threading.enumerate()), frozenset(_pipes()))


def kill_all(children: Iterable[int]) -> None:
    """Kills and reaps children of this process, and kills what they have started."""
    for child in children:
        for process in (*_below(child), child):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


@contextmanager
def hang_guard(hung: Callable[[], None]) -> Iterator[None]:
    """Kills all children of a test that never ends, then calls `hung`, which raises."""

    def ring(_number: int, _frame: object) -> None:
        for process in _below(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        hung()

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HUNG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _below(process: int) -> list[int]:
    """All that a process has started, the last first."""
    found = []
    for child in _children(process):
        found += [*_below(child), child]
    return found


def _children(process: int) -> list[int]:
    found = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError), open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    return found


def _pipes() -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                path = os.readlink(f"/proc/self/fd/{name}")
                if path.startswith(("pipe:", "socket:")):
                    yield path
