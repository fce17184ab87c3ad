"""Results of earlier runs: what a key depends on, and what is left to the next run."""

from __future__ import annotations

import pytest

from policykit.linter import memory
from policykit.linter.engine import FileResult, Job
from policykit.linter.memory import Memory, result
from policykit.pickles import frozen
from tests.formats.reports import FIXED

JOB = Job("a.yaml")
RAW = b"a: 1\n"


@pytest.mark.parametrize(
    ("job", "mark", "tool", "raw"),
    [
        (JOB._replace(path="b.yaml"), b"m", b"1", RAW),
        (JOB._replace(partial=True), b"m", b"1", RAW),
        (JOB._replace(namespace="team"), b"m", b"1", RAW),
        (JOB._replace(fixes=True), b"m", b"1", RAW),
        (JOB._replace(today="2026-01-01"), b"m", b"1", RAW),
        (JOB._replace(look="read"), b"m", b"1", RAW),
        (JOB._replace(plugins=("Mine",)), b"m", b"1", RAW),
        (JOB, b"n", b"1", RAW),
        (JOB, b"m", b"2", RAW),
        (JOB, b"m", b"1", RAW + b" "),
        (JOB._replace(path="\udcff.yaml"), b"m", b"1", RAW),
    ],
    ids=[
        "path",
        "partial",
        "namespace",
        "fixes",
        "today",
        "look",
        "plugins",
        "policy",
        "version",
        "bytes",
        "odd path",
    ],
)
def test_a_key_depends_on_everything(job: Job, mark: bytes, tool: bytes, raw: bytes) -> None:
    usual = Memory({}, b"1").key(JOB, b"m", RAW)
    assert Memory({}, b"1").key(JOB, b"m", RAW) == usual
    assert Memory({}, tool).key(job, mark, raw) != usual


def test_what_is_left_to_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_MOST", 3)
    kept = Memory({b"1": b"a", b"2": b"b", b"3": b"c"}, b"")
    assert kept.recall(b"1") == b"a"
    assert kept.recall(b"9") is None
    kept.keep(b"1", b"a")
    kept.keep(b"9", b"z")
    assert kept.new == 1
    assert list(kept.entries().items()) == [(b"3", b"c"), (b"1", b"a"), (b"9", b"z")]


def test_a_result_comes_back() -> None:
    found = FileResult((FIXED,))
    assert result(frozen(found)) == found


@pytest.mark.parametrize("raw", [b"", b"broken", frozen(FIXED), frozen({})])
def test_what_is_none(raw: bytes) -> None:
    assert result(raw) is None
