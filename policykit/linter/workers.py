"""Worker processes: each is asked for one part after the other, and what kills one is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Answer = TypeVar("Answer")
Work = Callable[[range], list[Answer]]
Lost = Callable[[int, str], Answer]


def answers(
    work: Work[Answer], parts: Sequence[range], workers: int, lost: Lost[Answer]
) -> Iterator[list[Answer]]:
    """`work` of every part, in their order: an answer for each of its numbers.

    Of a part whose process was killed each number is asked for again by itself: `lost(number, why)` stands
    for the one that kills it again.
    """
    with _Workers(work, min(workers, len(parts)), lost) as pool:
        waiting = iter(enumerate(parts))
        done: dict[int, list[Answer]] = {}
        for worker in pool.every:
            pool.ask(worker, waiting)
        for position in range(len(parts)):
            while position not in done:
                for worker in pool.ready():
                    number, part = worker.asked
                    found = worker.answer()
                    if found is None:
                        worker = pool.replace(worker)
                        found = [pool.alone(each) for each in part]
                    done[number] = found
                    pool.ask(worker, waiting)
            yield done.pop(position)


class _Worker(Generic[Answer]):
    """A process, and the way to it."""

    def __init__(self, work: Work[Answer], lost: Lost[Answer], others: Sequence[_Worker[Answer]]) -> None:
        # fork shares what `work` knows without sending it. A Python started anew would import from the
        # current folder, which may be a checkout.
        context = get_context("fork")
        self.connection, theirs = context.Pipe()
        # Ends that a fork leaves open would keep the others from noticing that this process is gone.
        forked = [self.connection, *(other.connection for other in others)]
        self.process = context.Process(target=_serve, args=(theirs, forked, work, lost), daemon=True)
        self.process.start()
        theirs.close()
        self.asked: tuple[int, range] = (0, range(0))

    def answer(self) -> list[Answer] | None:
        """What it says; None: it was killed."""
        try:
            found: list[Answer] = self.connection.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


class _Workers(Generic[Answer]):
    """All processes of a run; none is left when it ends, however it ends."""

    def __init__(self, work: Work[Answer], amount: int, lost: Lost[Answer]) -> None:
        self._work = work
        self._lost = lost
        self._amount = amount
        self.every: list[_Worker[Answer]] = []
        self._busy: list[_Worker[Answer]] = []

    def __enter__(self) -> _Workers[Answer]:
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

    def ask(self, worker: _Worker[Answer], waiting: Iterator[tuple[int, range]]) -> None:
        """For the next part, if there is one."""
        following = next(waiting, None)
        if following is not None:
            worker.asked = following
            self._send(worker, following[1])
            self._busy.append(worker)

    def ready(self) -> list[_Worker[Answer]]:
        """Those that have an answer, or were killed; waits for one."""
        heard = set(wait([worker.connection for worker in self._busy]))
        found = [worker for worker in self._busy if worker.connection in heard]
        self._busy = [worker for worker in self._busy if worker not in found]
        return found

    def replace(self, worker: _Worker[Answer]) -> _Worker[Answer]:
        """A new process in the place of one that was killed."""
        worker.end()
        self.every.remove(worker)
        return self._start()

    def alone(self, number: int) -> Answer:
        """The answer for one number, from a process that may be killed by it."""
        worker = _Worker(self._work, self._lost, self.every)
        try:
            self._send(worker, range(number, number + 1))
            found = worker.answer()
            if found is None:
                worker.process.join()
        finally:
            worker.end()
        return found[0] if found else self._lost(number, _why(worker.process.exitcode))

    def _start(self) -> _Worker[Answer]:
        worker = _Worker(self._work, self._lost, self.every)
        self.every.append(worker)
        return worker

    def _send(self, worker: _Worker[Answer], part: range) -> None:
        try:
            worker.connection.send(part)
        except OSError:
            return  # it is gone: reading its answer says so


def _serve(
    connection: Connection, inherited: Sequence[Connection], work: Work[Answer], lost: Lost[Answer]
) -> None:
    import gc
    import signal

    # An interrupt ends the main process, which ends its workers; they must not answer it too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What files leave behind has no cycles: looking for some after every few hundred nodes finds nothing.
    gc.freeze()
    gc.set_threshold(50_000)
    for other in inherited:
        other.close()
    try:
        while True:
            part: range = connection.recv()
            _answer(connection, part, work(part), lost)
    except (EOFError, OSError):
        return  # the main process is gone
    except Exception:
        raise SystemExit(1) from None  # the main process tells of it


def _answer(connection: Connection, part: range, found: list[Answer], lost: Lost[Answer]) -> None:
    try:
        connection.send(found)
    except OSError:
        raise
    except Exception:
        connection.send([_sendable(*each, lost) for each in zip(part, found, strict=True)])


def _sendable(number: int, answer: Answer, lost: Lost[Answer]) -> Answer:
    from multiprocessing.reduction import ForkingPickler

    try:
        ForkingPickler.dumps(answer)
    except Exception as error:
        return lost(number, f"its result cannot be sent: {type(error).__name__}: {error}")
    return answer


def _why(code: int | None) -> str:
    from signal import Signals

    how = f"by {Signals(-code).name}" if code is not None and code < 0 else f"with code {code}"
    return f"the process that looked at it was ended {how}"
