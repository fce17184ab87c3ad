"""What cannot be judged is told by its name and fails the run; everything else is judged all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable

import pytest

from policykit import api
from policykit.errors import SourceError
from policykit.linter.finding import Report
from policykit.linter.input_file import InputFile
from policykit.linter.workspace import Options, Workspace

POD = b"""\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {pod-group.scheduling.sigs.k8s.io: g}}
spec: {containers: [{name: main, image: "registry.example/a:1", resources: {requests: {nvidia.com/gpu: 1}}}]}
"""
REPORTED = "\n  help: please report it; POLICYKIT_TRACEBACK=1 shows the traceback"


def killed() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def left() -> bytes:
    os._exit(7)


def raised(error: Exception) -> Callable[[], bytes]:
    def reading() -> bytes:
        raise error

    return reading


def linted(
    bad: dict[str, Callable[[], bytes]],
    workers: int,
    files: int = 40,
    surroundings: Callable[[str], Iterable[InputFile]] = lambda _: (),
    scope: str = "",
) -> Report:
    def read(path: str) -> bytes:
        return bad[path]() if path in bad else POD

    members = tuple(InputFile(f"{n:02}.yaml", f"{n:02}.yaml", scope, 0) for n in range(files))
    workspace = Workspace(members, (api.setting(select=["PK201", "PK3"]),), read, surroundings)
    return api.lint(workspace, Options(workers=workers))


FAULTS = [
    (
        raised(RuntimeError("a\n::error::b\x1b")),
        r"internal error: RuntimeError: a\n::error::b\x1b" + REPORTED,
    ),
    (raised(RecursionError()), "internal error: RecursionError" + REPORTED),
    (raised(MemoryError()), "internal error: MemoryError" + REPORTED),
    (raised(SourceError("cannot be read: gone", "look")), "cannot be read: gone\n  help: look"),
]


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize(("reading", "says"), FAULTS, ids=["a fault", "too deep", "no memory", "unreadable"])
def test_one_file_fails(reading: Callable[[], bytes], says: str, workers: int) -> None:
    report = linted({"07.yaml": reading, "31.yaml": reading}, workers)
    assert report.failures == (f"07.yaml: {says}", f"31.yaml: {says}")
    assert [f.path for f in report.findings] == [f"{n:02}.yaml" for n in range(40) if n not in (7, 31)]


ENDS = [(killed, "was killed by SIGKILL"), (left, "ended with code 7")]


@pytest.mark.parametrize("workers", [2, 7])
@pytest.mark.parametrize("bad", [{7}, {0, 1}, {39}, {3, 4, 20, 21, 39}], ids=str)
@pytest.mark.parametrize(("end", "how"), ENDS, ids=["killed", "left"])
def test_a_file_takes_its_process_along(
    end: Callable[[], bytes], how: str, bad: set[int], workers: int
) -> None:
    report = linted({f"{n:02}.yaml": end for n in bad}, workers)
    assert report.failures == tuple(
        f"{n:02}.yaml: the worker process {how}\n"
        "  help: check whether there is enough memory: fewer --jobs need less"
        for n in sorted(bad)
    )
    assert [f.path for f in report.findings] == [f"{n:02}.yaml" for n in range(40) if n not in bad]


def test_every_file_takes_its_process_along() -> None:
    report = linted({f"{n:02}.yaml": killed for n in range(6)}, 2, files=6)
    assert len(report.failures) == 6
    assert report.findings == ()


@pytest.mark.parametrize("reported", [1, 2], ids=["beside the run", "in the run"])
def test_a_scope_with_a_file_that_failed_is_not_complete(reported: int) -> None:
    """A group that no file has may be in the one that came to nothing."""
    members = [InputFile(f"{n:02}.yaml", f"{n:02}.yaml", "scope", 0) for n in range(2)]
    alone = linted({}, 1, 1, lambda _: members[:1], "scope")
    assert [f.code for f in alone.findings] == ["PK306", "PK201"]
    report = linted({"01.yaml": raised(RuntimeError("x"))}, 1, reported, lambda _: members, "scope")
    assert [f.code for f in report.findings] == ["PK201"]
    assert report.failures == (f"01.yaml: internal error: RuntimeError: x{REPORTED}",)


def test_a_scope_that_cannot_be_looked_at() -> None:
    def gone(scope: str) -> Iterable[InputFile]:
        raise RuntimeError("x")

    report = linted({}, 1, 3, gone, "folder")
    assert [f.code for f in report.findings] == ["PK201"] * 3
    assert report.failures == (f"folder: internal error: RuntimeError: x{REPORTED}",)


def test_where_a_fault_happened_is_told_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLICYKIT_TRACEBACK", "1")
    (failure,) = linted({"00.yaml": raised(RuntimeError("a\nb"))}, 1, 1).failures
    assert failure.startswith(rf"00.yaml: internal error: RuntimeError: a\nb{REPORTED}" + "\nTraceback (most")
    assert f'  File "{__file__}"' in failure
