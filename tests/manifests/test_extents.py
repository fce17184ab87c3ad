"""Where documents begin and end: what `slices` says is what the parser reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.linter.reader import decode
from policykit.manifests.extents import Slice, slices
from policykit.manifests.parser import ParsedDocument, parse
from tests.shared import ROOT, SHARED

STREAMS = {
    "nothing": ("", []),
    "blank lines and comments": ("\n# a\n   \n", []),
    "one without a marker": ("a: 1\n", ["a: 1\n"]),
    "one without a line ending": ("a: 1", ["a: 1"]),
    "a marker belongs to what follows": ("a: 1\n---\nb: 2\n", ["a: 1\n", "---\nb: 2\n"]),
    "comments lead to the first": ("# x\n\n---\na: 1\n", ["# x\n\n---\na: 1\n"]),
    "comments at the end": ("a: 1\n---\n# x\n", ["a: 1\n", "---\n# x\n"]),
    "an empty document between": ("a: 1\n---\n---\nb: 2\n", ["a: 1\n", "---\n", "---\nb: 2\n"]),
    "only markers": ("---\n---\n", ["---\n", "---\n"]),
    "a marker with a value": ("--- 1\n--- {a: 1}\n", ["--- 1\n", "--- {a: 1}\n"]),
    "a marker without a line ending": ("a: 1\n---", ["a: 1\n", "---"]),
    "a marker with a comment": ("---  # x\na: 1\n", ["---  # x\na: 1\n"]),
    "no marker: it has no blank behind": ("a: 1\n---b: 2\n", ["a: 1\n---b: 2\n"]),
    "no marker: it is indented": ("a: |\n  ---\n  b\n", ["a: |\n  ---\n  b\n"]),
    "an end": ("a: 1\n...\nb: 2\n", ["a: 1\n...\n", "b: 2\n"]),
    "an end, then a marker": ("a: 1\n...\n---\nb: 2\n", ["a: 1\n...\n", "---\nb: 2\n"]),
    "directives": ("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 1\n",
                   ["%YAML 1.1\n---\na: 1\n...\n", "%YAML 1.1\n---\nb: 1\n"]),
    "CRLF": ("a: 1\r\n---\r\nb: 2\r\n", ["a: 1\r\n", "---\r\nb: 2\r\n"]),
    "JSON": ('{"a": 1}\n---\n{"b": 2}\n', ['{"a": 1}\n', '---\n{"b": 2}\n']),
    "a byte order mark": ("\ufeff---\na: 1\n", ["\ufeff---\na: 1\n"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "pieces"), list(STREAMS.values()), ids=list(STREAMS))
def test_pieces(text: str, pieces: list[str]) -> None:
    assert [text[one.start : one.end] for one in slices(text)] == pieces


def test_a_long_head_of_comments_is_read_once() -> None:
    """Were there two ways to match a line, these would be 2 to the power of 2,000."""
    head = "# Licensed to whom it may concern\r\n" * 2_000
    assert slices(f"{head}a: 1\r\n") == (Slice(0, len(head) + 6),)


def agree(text: str) -> None:
    """Without gaps, as many as the parser finds, and each reads alone as within the stream."""
    found = slices(text)
    assert [one.start for one in found] == [0, *(one.end for one in found[:-1])][: len(found)]
    assert not found or found[-1].end == len(text)
    documents = list(parse(text))
    assert len(found) == len(documents)
    for extent, whole in zip(found, documents, strict=True):
        alone = list(parse(text[extent.start : extent.end]))
        if whole.problem is None:
            assert len(alone) == 1
            assert _data(alone[0]) == _data(whole)


def _data(parsed: ParsedDocument) -> object:
    return parsed.root.data if parsed.root else None


DOCUMENTS = st.sampled_from(
    [
        "a: 1\n",
        "a: 1",
        "- x\n- y\n",
        '{"a": {"b": [1]}}\n',
        "a: |\n  text\n\n  ---\n",
        "a: |+\n  text\n\n",
        "a: 'x\n\n  --- y'\n",
        "# only a comment\n",
        "\n",
        "",
        "x: &a {b: 1}\ny: *a\n",
        "plain text\n",
        "a: 1 # x\n# last\n",
        "训练: é\n",
    ]
)
MARKERS = st.sampled_from(["---\n", "--- # x\n", "---\n\n", "...\n---\n", "... # x\n---\n", "---  \n"])


@st.composite
def streams(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "\ufeff", "---\n", "# first\n", "%YAML 1.1\n---\n"]))
    for _ in range(draw(st.integers(1, 4))):
        text += draw(DOCUMENTS)
        text += draw(MARKERS) if text.endswith("\n") or not text else f"\n{draw(MARKERS)}"
    text += draw(DOCUMENTS)
    return text.replace("\n", "\r\n") if draw(st.sampled_from([False, True])) else text


@settings(max_examples=300, deadline=None)
@given(streams())
def test_the_parser_reads_the_same(text: str) -> None:
    agree(text.removeprefix("\ufeff"))


BROKEN = st.sampled_from(["a: [\n", "a: 1\n b: 2\n", "'open\n", "\ta: 1\n", "a: *nobody\n", "a: {b\n", "{\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(BROKEN | DOCUMENTS, st.just("---\n")), min_size=1, max_size=5))
def test_a_broken_document_moves_none_of_the_others(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"{marker}{body}" + ("" if body.endswith("\n") else "\n") for body, marker in parts)
    agree(text)


def _files() -> list[Path]:
    folders = [
        ROOT / "examples",
        ROOT / "tests" / "golden",
        *([SHARED / "corpus", SHARED / "seeds"] if SHARED else []),
    ]
    return sorted(
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".yaml", ".yml", ".json")
    )


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    agree(decode(path.read_bytes()).text)
