"""Several changes to one document: the edits make the text, the text says the data, and no more."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policykit.linter.reader import decode
from policykit.manifests.document_edits import amended, composed
from policykit.manifests.edit import read, same, spliced
from policykit.manifests.extents import Edit, slices
from policykit.manifests.patch import APPEND, EditError, Patch, patched
from policykit.manifests.path import Path as Place
from policykit.manifests.path import lookup
from tests.shared import ROOT, SHARED

COMPOSED = {
    "one": ("abc", [Edit(1, 2, "x")], [Edit(1, 2, "x")]),
    "apart": ("abcdef", [Edit(0, 1, ""), Edit(3, 4, "yy")], [Edit(0, 1, ""), Edit(4, 5, "yy")]),
    "backwards": ("abcdef", [Edit(4, 5, "yy"), Edit(0, 1, "x")], [Edit(0, 1, "x"), Edit(4, 5, "yy")]),
    "within what was written": ("abc", [Edit(1, 2, "xyz"), Edit(2, 3, "_")], [Edit(1, 2, "x_z")]),
    "what was written is taken back": ("abc", [Edit(1, 1, "xyz"), Edit(1, 4, "")], []),
    "across what was written": ("abc", [Edit(1, 1, "xyz"), Edit(0, 5, "")], [Edit(0, 2, "")]),
    "insertions at one place": ("ab", [Edit(1, 1, "x"), Edit(2, 2, "y")], [Edit(1, 1, "xy")]),
    "what stays is not a part of it": ("a: 12\n", [Edit(3, 5, "132")], [Edit(4, 4, "3")]),
    "nothing changes": ("abc", [Edit(0, 3, "abc")], []),
}


@pytest.mark.parametrize(("text", "changes", "whole"), list(COMPOSED.values()), ids=list(COMPOSED))
def test_edits_of_the_text_as_read(text: str, changes: list[Edit], whole: list[Edit]) -> None:
    assert list(composed(text, changes)) == whole


def at_once(text: str, edits: Sequence[Edit]) -> str:
    for one in reversed(edits):
        text = spliced(text, one)
    return text


@st.composite
def changed_texts(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    letters = st.text("ab\n", max_size=6)
    text = now = draw(st.text("ab\n", max_size=12))
    changes = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(now)))
        change = Edit(start, draw(st.integers(start, len(now))), draw(letters))
        now = spliced(now, change)
        changes.append(change)
    return text, changes


@settings(max_examples=500, deadline=None)
@given(changed_texts())
def test_all_at_once_is_one_after_another(case: tuple[str, list[Edit]]) -> None:
    text, changes = case
    now = text
    for change in changes:
        now = spliced(now, change)
    whole = composed(text, changes)
    assert at_once(text, whole) == now
    assert all(one.end < other.start for one, other in pairwise(whole))
    assert all(one.start < one.end or one.text for one in whole)


STREAM = """\
# head
a: 1
---
# the second
b: {c: [1, 2]} # kept
d:
- e: 'x' # one
- f
---
g: 1
"""


def test_several_changes_to_one_document_of_several() -> None:
    patches = [
        Patch("add", ("b", "c", APPEND), 3),
        Patch("replace", ("d", 0, "e"), "y"),
        Patch("add", ("h", "i"), "j"),
        Patch("remove", ("d", 1)),
    ]
    found = amended(STREAM, patches, 1)
    assert found.text == STREAM.replace("[1, 2]", "[1, 2, 3]").replace("'x'", "'y'").replace(
        "- f\n", "h:\n  i: j\n"
    )
    assert at_once(STREAM, found.edits) == found.text
    assert len(found.edits) == 3


@pytest.mark.parametrize(
    ("text", "patches", "document"),
    [
        pytest.param("a: 1\n", [], 1, id="no such document"),
        pytest.param("", [Patch("add", ("a",), 1)], 0, id="no document at all"),
        pytest.param("a: 1\n---\nb: [\n", [Patch("add", ("c",), 1)], 1, id="a broken document"),
        pytest.param("a: &x [1]\nb: *x\n", [Patch("add", ("a", APPEND), 2)], 0, id="an anchor that is used"),
        pytest.param(
            "a: 1\n", [Patch("add", ("b",), 2), Patch("remove", ("c",))], 0, id="the second leads nowhere"
        ),
    ],
)
def test_refused(text: str, patches: list[Patch], document: int) -> None:
    with pytest.raises(EditError):
        amended(text, patches, document)


@pytest.mark.parametrize(
    ("text", "added"), [("a: 1\r\nb: 2\r\n", "c: 3\r\n"), ("a: 1\r\nb: 2\nc: 3\n", "d: 3\n")]
)
def test_lines_that_are_added_end_as_most_do(text: str, added: str) -> None:
    assert amended(text, [Patch("add", (added[0],), 3)], 0).text == text + added


def test_line_breaks_that_nobody_means_are_named() -> None:
    with pytest.raises(
        EditError, match=r"a line ends with U\+000D: end all lines with LF, or all with CR LF"
    ):
        amended("# a\rb: 1\r", [Patch("replace", ("b",), 2)], 0)


def test_a_broken_neighbour_does_not_matter() -> None:
    text = "a: [\n---\nb: 1\n"
    assert amended(text, [Patch("replace", ("b",), 2)], 1).text == "a: [\n---\nb: 2\n"


def places(data: Any, path: Place = ()) -> Iterator[Place]:
    """Every place of a document, the root first."""
    yield path
    for step, value in (
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    ):
        if isinstance(step, (str, int)):
            yield from places(value, (*path, step))


VALUES: list[Any] = [
    7, "text", "yes", None, [], {}, ["a", 1], {"k": "v"}, [{"k": [1]}], {"a": {"b": ["c", {"d": None}]}},
"1e3", "# no comment", True, " blank", "é 训练", "a: b", "{x}", "",
]  # fmt: skip


def some_changes(data: Any, chance: random.Random) -> list[Patch]:
    """Changes to different parts of a document, each where the ones before left it."""
    patches: list[Patch] = []
    for _ in range(chance.randint(1, 4)):
        path = chance.choice(list(places(data)))
        there = lookup(data, path)
        value = chance.choice(VALUES)
        options = [Patch("replace", path, value), Patch("remove", path)] if path else []
        if isinstance(there, dict):
            options.append(Patch("add", (*path, "new.example.com/key"), value))
        if isinstance(there, list):
            options += [Patch("add", (*path, APPEND), value), Patch("add", (*path, 0), value)]
        if options:
            patches.append(chance.choice(options))
            data = patched(data, patches[-1])
    return patches


def check(text: str, document: int, patches: list[Patch], data: Any) -> bool:
    """Whether the changes can be made; where they can, they are exact."""
    for patch in patches:
        data = patched(data, patch)
    try:
        found = amended(text, patches, document)
    except EditError:
        return False
    assert at_once(text, found.edits) == found.text
    before, after = slices(text), slices(found.text)
    assert len(before) == len(after)
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        piece = found.text[new.start : new.end]
        if index == document:
            assert same(_data(piece), data)
        else:
            assert piece == text[old.start : old.end]
    assert ("\r\n" in text) <= ("\n" not in found.text.replace("\r\n", ""))
    # Said again it changes nothing: what stands there is what would be written.
    last = patches[-1]
    if last.op == "replace" or (
        last.op == "add" and isinstance(last.path[-1], str) and last.path[-1] != APPEND
    ):
        assert amended(found.text, [last], document).edits == ()
    return True


def _data(piece: str) -> Any:
    (root,) = read(piece)
    return root.data if root else None


def _files() -> list[Path]:
    folders = [ROOT / "examples", *([SHARED / "corpus", SHARED / "seeds"] if SHARED else [])]
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in (".yaml", ".yml", ".json") and path.stat().st_size < 20_000
    )


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    text = decode(path.read_bytes()).text
    chance = random.Random(path.name)
    for lines in (text, text.replace("\r\n", "\n").replace("\n", "\r\n")):
        for document, extent in enumerate(slices(lines)[:4]):
            try:
                data = _data(lines[extent.start : extent.end])
            except EditError:
                continue
            if isinstance(data, (dict, list)) and data:
                # What anchors share and a null key in braces (`{cpu:4}`) cannot always be changed.
                odd = any(mark in lines for mark in (" *", " &", "<<", "{cpu:4"))
                assert check(lines, document, some_changes(data, chance), data) or odd


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab:#'\" \n-é", max_size=6)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from("wxyz"), DATA, min_size=1, max_size=3), st.booleans(), st.randoms())
def test_any_data_in_any_style(data: dict[str, Any], flow: bool, chance: random.Random) -> None:
    import yaml

    written = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, default_flow_style=flow or None)
    text = f"# head\n{written}---\nlast: 1 # tail\n"
    if same(_data(written), data):
        check(text, 0, some_changes(data, chance), data)
