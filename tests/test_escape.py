"""Text from outside: shown, and obeyed by nothing that shows it."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.escape import dumps, in_place, lines, markdown, one_line, xml_text
from tests.hostile import COMMAND, ODD


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("节点 é", "节点 é"),
        ("a\nb\r\x1b[31m\x00", r"a\nb\r\x1b[31m\x00"),
        ("\x7f\x85\x9b31m", r"\x7f\x85\x9b31m"),
        ("\u2028\ufeff\udcff", r"\u2028\ufeff\udcff"),
        ("user\u202egnp.exe\u2066\u200f\u061c", r"user\u202egnp.exe\u2066\u200f\u061c"),
        ("\U000e0041", r"\U000e0041"),
        ("a::b :: c", "a::b :: c"),
        ("::error::x", r"\x3a:error::x"),
        ("  ::add-mask::x", r"  \x3a:add-mask::x"),
        ("\n::error::x", r"\n::error::x"),
        ("a ##[error]x", r"a \x23#[error]x"),
        ("###[error]", r"#\x23#[error]"),
        ("##vso[task.setvariable variable=a]b", r"\x23#vso[task.setvariable variable=a]b"),
        ("##teamcity[x]", r"\x23#teamcity[x]"),
        ("## a heading [1]", "## a heading [1]"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(ODD)
def test_one_line_is_a_line_that_nothing_obeys(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert not COMMAND.search(shown)
    assert one_line(shown) == shown


@given(ODD)
def test_lines_keep_what_a_terminal_only_shows(text: str) -> None:
    shown = lines(text)
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert shown.count("\n") == text.count("\n")
    assert not any(COMMAND.search(line) for line in shown.split("\n"))


@given(ODD)
def test_a_line_with_marks_keeps_its_width(text: str) -> None:
    assert in_place(text).isprintable()
    assert len(in_place(text)) == len(text)
    assert not COMMAND.search(in_place(text))


@given(
    st.recursive(ODD, lambda inner: st.lists(inner) | st.dictionaries(ODD, inner)), st.sampled_from([2, None])
)
def test_json_reads_back(data: object, indent: int | None) -> None:
    text = dumps(data, indent=indent)
    assert json.loads(text) == data
    assert text.replace("\n", "" if indent else "\n").isprintable()
    assert not any(COMMAND.search(line) for line in text.split("\n"))


@given(ODD)
def test_xml_reads_back_but_for_what_xml_cannot_say(text: str) -> None:
    shown = xml_text(text)
    assert shown.isprintable()
    assert not COMMAND.search(shown)
    root = ElementTree.fromstring(f'<a b="{shown}">{shown}</a>')
    sayable = re.sub(
        "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda c: one_line(c[0]), text
    )
    assert root.text == (sayable or None)
    assert root.attrib["b"] == sayable


@given(ODD)
def test_markdown_holds_no_tag_and_no_link(text: str) -> None:
    shown = markdown(text)
    assert shown.isprintable()
    assert "<" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[\[|]", shown)
