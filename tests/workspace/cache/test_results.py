"""Results of files: what a key depends on, what is refused, and what is left to the next run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.formats import FORMATS, FormatContext, format_named
from policykit.linter.engine import FileResult, Job
from policykit.linter.finding import Finding, Resource
from policykit.linter.scope import LocatedFact, UnreadableText
from policykit.manifests.patch import Patch
from policykit.model.pod_admission import RuntimeClassUse
from policykit.model.pool import Taint
from policykit.rules import CATALOGUE
from policykit.workspace.cache import results as module
from policykit.workspace.cache.folder import Cache, name_of, pack
from policykit.workspace.cache.results import (
    Results,
    load_results,
    store_results,
)
from tests.formats.reports import CONTEXT, FIX, FIXED, MIXED
from tests.workspace.cache.values import values

JOB = Job("a.yaml")
RAW = b"a: 1\n"
FOUND = FileResult((FIXED,))
FACT = LocatedFact(Taint("a"), FIXED.path, 0, Resource("v1", "Node", None, "a"), {})


@pytest.mark.parametrize(
    ("job", "fingerprint", "raw"),
    [
        (JOB._replace(path="b.yaml"), b"f", RAW),
        (JOB._replace(partial=True), b"f", RAW),
        (JOB._replace(namespace="team"), b"f", RAW),
        (JOB._replace(fixes=True), b"f", RAW),
        (JOB._replace(today="2026-01-01"), b"f", RAW),
        (JOB._replace(only="read"), b"f", RAW),
        (JOB._replace(plugins=("Mine",)), b"f", RAW),
        (JOB._replace(components=("training",)), b"f", RAW),
        (JOB, b"g", RAW),
        (JOB, b"f", RAW + b" "),
        (JOB._replace(path="\udcff.yaml"), b"f", RAW),
    ],
    ids=[
        "path",
        "partial",
        "namespace",
        "fixes",
        "today",
        "look",
        "plugins",
        "components",
        "policy",
        "bytes",
        "odd path",
    ],
)
def test_a_key_depends_on_everything(job: Job, fingerprint: bytes, raw: bytes) -> None:
    usual = Results({}).key(JOB, b"f", RAW, facts_only=False)
    assert Results({}).key(JOB, b"f", RAW, facts_only=False) == usual
    assert Results({}).key(job, fingerprint, raw, facts_only=False) != usual
    assert Results({}).key(JOB, b"f", RAW, facts_only=True) != usual


def test_what_is_left_to_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 6)
    results = Results({b"1": b"aa", b"2": b"bb", b"3": b"cc"})
    assert results.find(b"1") == b"aa"
    assert results.find(b"9") == b""
    results.keep(b"1", b"aa")
    results.keep(b"9", b"zz")
    assert results.new == 1
    assert list(results.entries().items()) == [(b"3", b"cc"), (b"1", b"aa"), (b"9", b"zz")]


def test_what_is_of_no_use_is_dropped() -> None:
    results = Results({b"1": b"a"})
    results.keep(b"1", b"a")
    assert results.clear()
    assert (results.find(b"1"), results.entries(), results.new) == (b"", {}, 0)
    assert not results.clear()


def test_results_come_back() -> None:
    found = [FOUND, FileResult(), FileResult((FIXED,), (FACT,), documents=3)]
    assert Results({}).decode(Results({}).encode(found), [FIXED.path] * 3) == found


def test_one_that_is_not_to_be_kept_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    infinite = FIX._replace(patches=(Patch("add", (), float("inf")),))
    odd = FileResult((FIXED._replace(fix=infinite),))
    first, none, last = Results({}).encode([FOUND, odd, FileResult(skipped="x" * 99)])
    assert (bool(first), none, bool(last)) == (True, b"", True)
    monkeypatch.setattr(module, "_MAX_OF_ONE", len(last) - 1)
    assert Results({}).encode([FileResult(skipped="x" * 99)]) == [b""]


WRONG = [
    ("nothing", b""),
    ("no result", b"broken"),
    ("another file", FileResult((FIXED._replace(path="/etc/passwd"),))),
    ("a fact of another file", FileResult((), (FACT._replace(path="/etc/passwd"),))),
    ("a rule that does not exist", FileResult((FIXED._replace(code="PK999"),))),
    ("the name of another rule", FileResult((FIXED._replace(name="\x1b[31m"),))),
    ("times", FileResult(times=(("PK001", 1.0),))),
]


@pytest.mark.parametrize("wrong", [case[1] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_cannot_be_of_the_file_is_refused(wrong: bytes | FileResult) -> None:
    results = Results({})
    entry = wrong if isinstance(wrong, bytes) else results.encode([wrong])[0]
    (sound,) = results.encode([FOUND])
    assert results.decode([sound, entry, sound], [FIXED.path] * 3) == [FOUND, None, FOUND]
    assert results.decode([entry], [FIXED.path]) == [None]


USE = LocatedFact(RuntimeClassUse("nvidia"), *FACT[1:5], partial=True)
FACTS = (FACT, UnreadableText(frozenset({"train"})), USE)


def test_facts_are_decoded_by_their_types() -> None:
    results = Results({})
    entries = results.encode([FileResult((), FACTS), FileResult((FIXED,)), FileResult((), FACTS[2:])])
    first, second, third = (results.facts(entry, FIXED.path, tuple) for entry in entries)
    assert list(first.names) == ["pool.Taint", "scope.UnreadableText", "pod_admission.RuntimeClassUse"]
    assert [*second.names] == []
    assert [first.of(name) for name in first.names] == [(fact,) for fact in FACTS]
    assert third.of("pod_admission.RuntimeClassUse") == (USE,)
    assert [list(each.objects()) for each in (first, second, third)] == [[FACT.resource], [], []]


LINE = Results({}).encode([FileResult((), (USE,))])[0].partition(b"\n")[2].partition(b" ")[2]
DAMAGED = [
    ("no JSON", b"pool.Taint broken"),
    ("another form", b"pool.Taint [[1]]"),
    ("facts of another type", b"pool.Taint " + LINE),
    (
        "of another file",
        Results({}).encode([FileResult((), (FACT._replace(path="/etc/passwd"),))])[0].partition(b"\n")[2],
    ),
]


@pytest.mark.parametrize("line", [case[1] for case in DAMAGED], ids=[case[0] for case in DAMAGED])
def test_a_file_with_damaged_facts_is_read_again(line: bytes) -> None:
    results = Results({})
    sound, empty = results.encode([FileResult((), FACTS[:1]), FileResult()])
    beside = results.facts(sound, FIXED.path, tuple)
    damaged = results.facts(empty + b"\n" + line, FIXED.path, lambda: FACTS)
    assert (damaged.of("pool.Taint"), beside.of("pool.Taint")) == ((FACT,), (FACT,))


def test_damaged_objects_are_read_again() -> None:
    results = Results({})
    damaged = results.facts(results.encode([FileResult()])[0] + b"\nobjects {}", FIXED.path, lambda: FACTS)
    assert list(damaged.objects()) == [FACT.resource]


def test_a_run_finds_what_the_last_one_left(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))
    results = load_results(cache)
    key = results.key(JOB, b"f", RAW, facts_only=False)
    results.keep(key, b"entry")
    store_results(cache, results)
    again = load_results(cache)
    assert again.find(key) == b"entry"
    again.keep(key, b"entry")
    (tmp_path / "cache" / name_of("results")).unlink()
    store_results(cache, again)
    assert not list((tmp_path / "cache").iterdir()), "nothing new is nothing to write"


@pytest.mark.parametrize("raw", [b"\xff" * 8, pack({b"k" * 20: b"entry"})[:-2]])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, raw: bytes) -> None:
    cache = Cache(str(tmp_path / "cache"))
    cache.store(name_of("results"), raw)
    assert load_results(cache).entries() == {}


PATHS = frozenset({"apps/train.yaml", "apps/名.yaml", "b.yaml", "c.yaml"})


def _of_a_rule(finding: Finding, number: int, path: str) -> Finding:
    entry = CATALOGUE[number % len(CATALOGUE)]
    return finding._replace(code=entry.code, name=entry.name, path=path)


FINDINGS = st.builds(
    _of_a_rule, values(Finding), st.integers(0, len(CATALOGUE) - 1), st.sampled_from(sorted(PATHS))
)


@settings(max_examples=60)
@given(st.lists(FINDINGS, max_size=3).map(tuple), st.booleans())
def test_every_format_can_show_whatever_a_report_says(findings: tuple[Finding, ...], empty: bool) -> None:
    """Places before the first line and beyond the last, edits of nothing, numbers without measure."""
    around = FormatContext() if empty else CONTEXT
    for name in FORMATS:
        format_named(name)(MIXED._replace(findings=findings), around)
