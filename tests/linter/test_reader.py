"""Bytes to text and documents: encodings, their mistakes, templates."""

from __future__ import annotations

import pytest

from policykit.linter.reader import decode, documents, is_template
from policykit.manifests.parser import Problem


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"", ""), (b"a: \xe8\x8a\x82", "a: 节"), (b"\xef\xbb\xbfa: 1", "a: 1"), (b"a\r\nb", "a\r\nb")],
    ids=["empty", "utf-8", "byte order mark", "crlf"],
)
def test_decode(raw: bytes, text: str) -> None:
    assert decode(raw) == (text, None)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"\xff", Problem("byte 0xff is not UTF-8", 0, 0)),
        (b"a\nb\xe9", Problem("byte 0xe9 is not UTF-8", 1, 1)),
        ("节: ".encode() + b"\xe9", Problem("byte 0xe9 is not UTF-8", 0, 3)),
        (b"\xef\xbb\xbfa\xe9", Problem("byte 0xe9 is not UTF-8", 0, 1)),
        (b"\xe8\x8a", Problem("byte 0xe8 is not UTF-8", 0, 0)),
    ],
    ids=["first", "second line", "counted in characters", "after a mark", "cut off"],
)
def test_other_bytes_have_a_place(raw: bytes, problem: Problem) -> None:
    text = decode(raw)
    assert text.problem == problem
    assert [(parsed.root, parsed.problem) for parsed in documents(text)] == [(None, problem)]


def test_documents() -> None:
    roots = [parsed.root for parsed in documents(decode(b"a: 1\n---\nb: 2\n"))]
    assert [root.data for root in roots if root] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "template"), [("{{ x }}", True), ("a: {{b: c}", False), ("}}", False), ("a: {}", False)]
)
def test_is_template(text: str, template: bool) -> None:
    assert is_template(text) is template
