"""All readers make the same documents, node by node, and tell the same problems."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.extension import compiled
from policykit.manifests import compiled_reader, parsed_document
from policykit.manifests.node import Lines
from policykit.manifests.parser import parse
from scripts.fuzz import broken
from tests.manifests.trees import by_events, described
from tests.shared import ROOT, SHARED

needs_extension = pytest.mark.skipif(
    not compiled_reader.available(), reason="without the extension, or with POLICYKIT_EXTENSION=0"
)

BROKEN = 1500
"""Broken texts that a run tries."""


def assert_same(text: str) -> None:
    assert described(parse(text)) == described(by_events(text))


def texts(folder: Path, names: list[str]) -> list[str]:
    """The files of a folder that are text: also what is not YAML is read one way."""
    found = []
    for name in names:
        try:
            found.append((folder / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
    return found


def tracked() -> list[str]:
    listed = ["git", "ls-files", "-z", "*.yaml", "*.yml", "*.json", "*.txt", "*.md", "*.toml"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def test_all_files_of_the_repository() -> None:
    found = texts(ROOT, tracked())
    assert len(found) > 500
    for text in found:
        assert_same(text)


def test_the_corpus() -> None:
    if SHARED is None:
        pytest.skip("there is no folder shared")
    found = texts(SHARED, [str(path) for path in SHARED.rglob("*") if path.is_file()])
    assert len(found) > 100
    for text in found:
        assert_same(text)


def test_broken_texts() -> None:
    draw = random.Random(7)
    found = [text.encode() for text in texts(ROOT, tracked()) if len(text) < 20_000]
    for _ in range(BROKEN):
        assert_same(broken(draw, found).decode("utf-8", errors="replace"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# nothing\n",
        "---\n---\n...\n---\n",
        "\ufeffa: 1\n",
        "\ufeff\ufeffa: 1\n",
        "a: 1\n---\n\ufeffb: 1\nc: 1\n",
        "a: 1\r\nb: |\r\n  x\r\n",
        "a: x\x85b: y\u2028c: z\u2029d: 节点\n",
        "'\U0001f600': [\U0001f600, \"\\U0001F600\"] # \U0001f600\nb: 1\n",
        '{"a": "\\ud83d\\ude00", "b": "\\ud83d"}',
        "0123456789: 1\n1: 2\n00: 3\n-1: 4\n999999999: 5\n9999999999: 6\n1_0: 7\n",
        "[0, 00, 08, 1, +1, -1, 0x1F, 0b1, 0o7, 1., .5, 1e3, 1e999, 1_0, ., -, +, .inf, -.INF, .nan]",
        f"[{'9' * 9}, {'9' * 10}, {'9' * 400}, {'9' * 401}, {'9' * 5000}]",
        "[~, null, Null, nulls, y, Y, yes, yess, on, off, False, false, t, f, n, ~~, '', \"\"]",
        "a:\nb: \nc: ''\nd: |\ne: >-\n",
        "a: !!int 5\nb: !!str 5\nc: ! 5\nd: !x 5\ne: !!null x\nf: !!bool yes\n",
        "!!map {a: !!seq [1]}\n",
        "a: !<%C0%80> x\n",
        "a: !<%C0%80> [x]\n",
        "%TAG ! tag:%C0%80,2000:\n---\na: !x [1]\n",
        "%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n",
        "%YAML 1.1\n---\na: yes\n",
        "%YAML 1.2\n---\na: yes\n---\nb: 1\n",
        "%YAML 3.0\n---\na\n",
        "a: &x {b: &y [1, &z 2]}\nc: *x\nd: *y\ne: *z\n&k f: 1\n*k : 2\n",
        "&a a: 1\n&a b: *a\nc: *a\n",
        "a: &x [*x]\n",
        "a: *none\n",
        "&r {a: {b: *r}}\n",
        "&l <<: {a: 1}\n*l : {b: 2}\n",
        "'<<': {a: 1}\n!!str <<: {b: 1}\n",
        "b: &b {x: 1, y: 2}\nu:\n  <<: *b\n  y: 3\n  <<: {z: 1}\nv: 1\n",
        "b: &b {x: 1}\nu:\n  x: 3\n  <<: [*b, {y: 2}]\n",
        "<<: 1\n",
        "<<: [1]\n",
        "a: 1\nb: 2\na: 3\n",
        "a:\n  b: 1\n  c: 2\n  b:\n    d: 1\n",
        "a: {b: 1, b: 2, b: 3}\n",
        "1: a\n'1': b\ntrue: c\nyes: d\nnull: e\n~: f\n1.0: g\n",
        "? a\n: b\n? c\n",
        "? [a]\n: b\n",
        "? {a: b}\n: c\n",
        "- - - a\n    - b\n  - c\n- d:\n  - e\n- \n",
        "a: 1\n---\nb: c: d\n---\ne: 5\n---\n\tf\n--- x\n",
        "a: [1\n",
        "{a: 1}}\n",
        "a: \x01\n",
        "a: 1\n---\nb: \x00\n---\nc: 1\n",
        "[" * 200 + "]" * 200,
        "[" * 201 + "]" * 201,
        "{a: " * 10_000,
        "- " * 10_000,
    ],
)
def test_single_texts(text: str) -> None:
    assert_same(text)


@pytest.mark.parametrize("bound", ["MAX_DEPTH", "MAX_ALIASED", "MAX_VALUES"])
@pytest.mark.parametrize("most", range(12))
def test_bounds(monkeypatch: pytest.MonkeyPatch, bound: str, most: int) -> None:
    """Whatever a bound is, every reader ends at it."""
    monkeypatch.setattr(parsed_document, bound, most)
    assert_same("a: &a [1, [2]]\nb: &b [*a, [*a]]\nc: {d: *b, <<: {e: *a}}\n---\n[[[[1], 2], 3], 4]\n")


plain = st.text("ab:-[]{}#&*!|>'\"%@` \n\t,?<~.0189eExXyYnN_+", max_size=80)
lines = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(("", "- ", "- - ", "a: ", "b: ", "? ", ": ", "<<: ", "'q': ", "1: ")),
        st.sampled_from(("", "&x ", "&y ", "!!str ", "! ", "!!int ")),
        st.sampled_from(
            (
                "",
                "*x",
                "*y",
                "a",
                "1",
                "-0x1F",
                "yes",
                "|",
                ">+",
                "[1, *x]",
                "{a: &y b, <<: *x}",
                "---",
                "节点",
                '"',
            )
        ),
    ),
    max_size=12,
)


@given(plain)
def test_any_text(text: str) -> None:
    assert_same(text)


@given(st.text(max_size=60))
def test_any_characters(text: str) -> None:
    assert_same(text)


@given(lines)
def test_any_structure(drawn: list[tuple[int, str, str, str]]) -> None:
    assert_same("".join(f"{' ' * indent}{key}{mark}{value}\n" for indent, key, mark, value in drawn))


@needs_extension
def test_a_text_is_read_document_by_document() -> None:
    documents = compiled_reader.documents("a: 1\n---\nb: [\n", _lines())
    assert next(documents).root is not None
    with pytest.raises(parsed_document.UnreadError):
        next(documents)


@needs_extension
def test_a_reader_that_failed_has_nothing_more() -> None:
    reader = compiled.Reader("a: [", _lines(), 10, 10, 10)
    with pytest.raises(parsed_document.UnreadError):
        reader.document()
    assert reader.document() is None


def _lines() -> Lines:
    return Lines("")
