"""Worker processes, each of which gets one part after the other; an input that kills a worker is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Result = TypeVar("Result")
Task = Callable[[range], list[Result]]
OnCrash = Callable[[int, str], Result]


def results(
    task: Task[Result], parts: Sequence[range], workers: int, on_crash: OnCrash[Result]
) -> Iterator[list[Result]]:
    """The results of `task` for all parts, in order: one for each number in a part.

    If a part kills its worker, each of its numbers is tried again alone. The result of a number that kills a
    worker again is `on_crash(number, why)`.
    """
    with _Workers(task, min(workers, len(parts)), on_crash) as pool:
        waiting = iter(enumerate(parts))
        done: dict[int, list[Result]] = {}
        for worker in pool.every:
            pool.ask(worker, waiting)
        for position in range(len(parts)):
            while position not in done:
                for worker in pool.ready():
                    number, part = worker.asked
                    found = worker.receive()
                    if found is None:
                        worker = pool.replace(worker)
                        found = [pool.alone(each) for each in part]
                    done[number] = found
                    pool.ask(worker, waiting)
            yield done.pop(position)


class _Worker(Generic[Result]):
    """A process, and the connection to it."""

    def __init__(
        self, task: Task[Result], on_crash: OnCrash[Result], others: Sequence[_Worker[Result]]
    ) -> None:
        # A fork shares the data of `task` without sending it. A new Python process would import from the
        # current folder, which may be a checkout.
        context = get_context("fork")
        self.connection, theirs = context.Pipe()
        # If a fork kept them open, the others would not notice that this process is gone.
        forked = [self.connection, *(other.connection for other in others)]
        self.process = context.Process(target=_serve, args=(theirs, forked, task, on_crash), daemon=True)
        self.process.start()
        theirs.close()
        self.asked: tuple[int, range] = (0, range(0))

    def receive(self) -> list[Result] | None:
        """Its results for a part; None: it was killed."""
        try:
            found: list[Result] = self.connection.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


class _Workers(Generic[Result]):
    """All processes of a run, which end with it in any case."""

    def __init__(self, task: Task[Result], amount: int, on_crash: OnCrash[Result]) -> None:
        self._task = task
        self._on_crash = on_crash
        self._amount = amount
        self.every: list[_Worker[Result]] = []
        self._busy: list[_Worker[Result]] = []

    def __enter__(self) -> _Workers[Result]:
        try:
            while len(self.every) < self._amount:
                self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.every:
            worker.end()

    def ask(self, worker: _Worker[Result], waiting: Iterator[tuple[int, range]]) -> None:
        """Sends a worker the next part, if there is one."""
        following = next(waiting, None)
        if following is not None:
            worker.asked = following
            self._send(worker, following[1])
            self._busy.append(worker)

    def ready(self) -> list[_Worker[Result]]:
        """Waits for workers that have finished a part or were killed."""
        ready = set(wait([worker.connection for worker in self._busy]))
        found = [worker for worker in self._busy if worker.connection in ready]
        self._busy = [worker for worker in self._busy if worker not in found]
        return found

    def replace(self, worker: _Worker[Result]) -> _Worker[Result]:
        """Replaces a worker that was killed."""
        worker.end()
        self.every.remove(worker)
        return self._start()

    def alone(self, number: int) -> Result:
        """The result for one number, from a process of its own."""
        worker = _Worker(self._task, self._on_crash, self.every)
        try:
            self._send(worker, range(number, number + 1))
            found = worker.receive()
            if found is None:
                worker.process.join()
        finally:
            worker.end()
        return found[0] if found else self._on_crash(number, _why(worker.process.exitcode))

    def _start(self) -> _Worker[Result]:
        worker = _Worker(self._task, self._on_crash, self.every)
        self.every.append(worker)
        return worker

    def _send(self, worker: _Worker[Result], part: range) -> None:
        try:
            worker.connection.send(part)
        except OSError:
            return  # it is gone: reading its answer says so


def _serve(
    connection: Connection, inherited: Sequence[Connection], task: Task[Result], on_crash: OnCrash[Result]
) -> None:
    import gc
    import signal

    # An interrupt ends the main process, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Results of files have no cycles, so garbage collection would find nothing.
    gc.freeze()
    gc.set_threshold(50_000)
    for other in inherited:
        other.close()
    try:
        while True:
            part: range = connection.recv()
            _reply(connection, part, task(part), on_crash)
    except (EOFError, OSError):
        return  # the main process is gone
    except Exception:
        raise SystemExit(1) from None  # the main process reports it


def _reply(connection: Connection, part: range, found: list[Result], on_crash: OnCrash[Result]) -> None:
    try:
        connection.send(found)
    except OSError:
        raise
    except Exception:
        connection.send([_sendable(*each, on_crash) for each in zip(part, found, strict=True)])


def _sendable(number: int, result: Result, on_crash: OnCrash[Result]) -> Result:
    from multiprocessing.reduction import ForkingPickler

    try:
        ForkingPickler.dumps(result)
    except Exception as error:
        return on_crash(number, f"its result cannot be sent: {type(error).__name__}: {error}")
    return result


def _why(code: int | None) -> str:
    from signal import Signals

    if code is not None and code < 0:
        return f"the worker process was killed by {Signals(-code).name}"
    return f"the worker process ended with code {code}"
