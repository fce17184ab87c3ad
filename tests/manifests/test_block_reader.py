"""The reader of lines reads what most manifests are, as the reader of events does, and leaves the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import block_reader, parsed_document
from policykit.manifests.node import Lines, node_at
from policykit.manifests.parsed_document import ParsedDocument, UnreadError
from tests.manifests.trees import by_events, described

READ = [
    "",
    "# nothing\n",
    "a: 1",
    "a: 1\n",
    "---\na: 1\n---\nb: 2\n",
    "# first\na: 1\n--- \n\n# second\nb: 2\n",
    "a:\n  b:\n    c: x\nd: y\n",
    "a:\n- x\n- y\nb:\n  - z\n",
    "a:\n- b: 1\n  c: 2\n- b: 3\n",
    "a:\n-   b: 1\n    c: 2\n",
    "- a\n- b: c\n- d:\n  - e\n",
    "a:\nb:\n",
    "a:\n  - b:\n  - c:\n",
    "a: # why\n  b: x # and why\n",
    "a: b#c\nd: e:f\ng: -h\n",
    "a: -1\nb: 0x1F\nc: 1.50\nd: yes\ne: ~\nf: null\ng: 12:30\nh: .5\n",
    "a: two words  \nb: http://example.com/x?y=z&a#b\n",
    "a: 'x'\nb: \"y\"\nc: ' # '\nd: \"it's\"\ne: '\"'\n",
    "'a': 1\n\"b c\": 2\n'<<': 3\n'1': 4\n",
    "a: 节点\nb: '卡'\nc: [卡, \"é\"] # 注释\n",
    "a: {}\nb: []\nc: {} # empty\n",
    "a: {b: 1, 'c': \"2\", d: [x, -y, 3.0, ~], e: {f: {}}}\n",
    "a: [x, y z, --flag=1, 'a, b', \"]\", ]\nb: [ ]\nc: { }\nd: {e: f, }\n",
    "- {a: 1}\n- [b]\n- [[c], {d: e}]\n",
    "a: |\n  one\n\n    two\n  # three\n\nb: 1\n",
    "a: |-\n  one\n   \n  two\n\n\n",
    "a: |\n  one",
    "a: |\n  one\n   ",
    "a: |\n\n \n  one\n  --- \n",
    "- |\n  one\n- a: |-\n    two\n  b: |\n     three\n",
    "a: | # why\n  卡\tx\n",
    "a: |\n  one\n---\nb: 1\n",
]
LEFT = [
    "---\n---\n",
    "---\n",
    "a\n",
    "a: &x 1\nb: *x\n",
    "a: !!str 1\n",
    "a: 1\na: 2\n",
    "1: a\n",
    "yes: a\n",
    "<<: {a: 1}\n",
    "a: one\n  two\n",
    "a: 'one\n  two'\n",
    'a: "\\n"\n',
    "a: 'it''s'\n",
    "a: >\n  one\n",
    "a: |+\n  one\n",
    "a: |2\n  one\n",
    "a: |\nb: 1\n",
    "a: |\n   \n  one\n",
    "a: |\n  one\n  \x07\n",
    "a: |\n\tone\n",
    "a: |\n  one\n \t\n",
    "a: {b: [1,\n  2]}\n",
    "a: {b: {c: 1}\n",
    "a: [1]]\n",
    "a: [1] x\n",
    "a: [a: 1]\n",
    "a: {b, c: 1}\n",
    "a: {1: b}\n",
    "a: {b: 1, b: 2}\n",
    "a: {b: }\n",
    "a: [,]\n",
    "a: [a:b]\n",
    "a: [*x]\n",
    "a: " + "[" * 9 + "]" * 9 + "\n",
    f"{'k' * 300}: 1\n",
    "a: 1\r\n",
    "a: x\x85\n",
    "a: \u2028\n",
    "\ta: 1\n",
    "a:\t1\n",
    "a: b: c\n",
    "  a: 1\n b: 2\n",
    "- a\n b\n",
    "- a\nb: 1\n",
    "-\n  a: 1\n",
    "- - a\n",
    "? a\n: b\n",
    "%YAML 1.1\n---\na: 1\n",
    "a: 1\n...\n",
]


def read(text: str) -> list[ParsedDocument]:
    return list(block_reader.documents(text, Lines(text)))


@pytest.mark.parametrize("text", READ)
def test_what_is_read_is_as_by_events(text: str) -> None:
    assert described(read(text)) == described(by_events(text))


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left(text: str) -> None:
    with pytest.raises(UnreadError):
        read(text)


def test_documents_before_the_first_that_is_left_are_read() -> None:
    documents = block_reader.documents("a: 1\n---\nb: &x 1\n", Lines(""))
    first = next(documents)
    assert first.root is not None
    assert first.root.data == {"a": 1}
    with pytest.raises(UnreadError):
        next(documents)


@pytest.mark.parametrize("levels", [180, 190, 191, 195, 199, 200, 201])
@pytest.mark.parametrize("last", ["x", "{}", "[[[[]]]]", "\n{indent}- x"])
def test_depth(levels: int, last: str) -> None:
    """What is nested deeper than any reader accepts is never read."""
    lines = [f"{'  ' * level}a:\n" for level in range(levels - 1)]
    text = "".join(lines) + f"{'  ' * levels}a: {last}\n".replace("{indent}", "  " * levels)
    try:
        found = described(read(text))
    except UnreadError:
        assert levels > 180
    else:
        assert found == described(by_events(text))


@pytest.mark.parametrize("most", range(14))
def test_bound_of_depth(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(parsed_document, "MAX_DEPTH", most)
    text = "a:\n- b:\n    c: [[[d]]]\n"
    try:
        found = described(read(text))
    except UnreadError:
        return
    assert found == described(by_events(text))


def test_a_text_of_any_length_is_left_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_document, "MAX_VALUES", 6)
    assert read("a: 1\n")
    with pytest.raises(UnreadError):
        read("a: 12\n")


def test_nodes_are_found_by_path_without_those_beside_them() -> None:
    (document,) = read("a:\n  b:\n  - x\n  - c: {d: [1, 2]}\n")
    assert document.root is not None
    found = node_at(document.root, ("a", "b", 1, "c", "d", 1))
    assert found is not None
    assert (found.data, found.span) == (2, (4, 16, 4, 17))
    for missing in (("x",), ("a", 0), ("a", "b", 2), ("a", "b", "c"), ("a", "b", 0, "x")):
        assert node_at(document.root, missing) is None


# Structures as people write them: each is a value and one of the ways to write it.
words = st.sampled_from(
    ["x", "a b", "1", "-2", "0.5", "yes", "'q'", '"q: #"', "节点", "a:b", "x#y", "~", "nvidia.com/gpu"]
)
keys = st.sampled_from(["a", "b", "c-d", "e.f/g", "'h i'", '"j"', "k1", "_l"])
flows = st.recursive(
    words.filter(lambda word: ":b" not in word and "#y" not in word),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(keys, inner, max_size=3).map(
            lambda pairs: f"{{{', '.join(f'{key}: {value}' for key, value in pairs.items())}}}"
        ),
    ),
    max_leaves=6,
)
literals = st.tuples(
    st.sampled_from(["|", "|-", "| # note"]),
    st.lists(st.sampled_from(["x", "  y", "", "# z", "a: b", "- c", "---", "\tt"]), min_size=1, max_size=5),
).map(lambda drawn: [drawn[0], "x", *drawn[1]])
comments = st.sampled_from(["", "", "", " # why", "  "])


@st.composite
def structures(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Lines of a block collection that begins at column 0."""
    mapping = draw(st.booleans())
    written: list[str] = []
    names = draw(st.lists(keys, min_size=1, max_size=4, unique_by=lambda key: key.strip("'\"")))
    for name in names:
        mark = f"{name}:" if mapping else "-"
        form = draw(st.sampled_from(["scalar", "scalar", "flow", "literal", "block", "empty"]))
        if form == "literal":
            head, *body = draw(literals)
            written += [f"{mark} {head}", *(f"  {line}" if line else "" for line in body)]
        elif form == "block" and depth < 3:
            inner = draw(structures(depth + 1))
            if not mapping:
                if inner[0].startswith("-"):
                    inner = ["n:", *inner]
                inner = [
                    f"{'- ' if not at else '  '}{line}" if line else line for at, line in enumerate(inner)
                ]
                written += inner
            else:
                written += [mark + draw(comments), *(f"  {line}" if line else line for line in inner)]
        elif form == "empty" and mapping:
            written.append(mark + draw(comments))
        else:
            written.append(f"{mark} {draw(flows if form == 'flow' else words)}".rstrip() + draw(comments))
        if draw(st.integers(0, 5)) == 0:
            written.append(draw(st.sampled_from(["", "# between", "   "])))
    return written


@given(st.lists(structures(), min_size=1, max_size=3), st.booleans())
def test_structures_are_read_as_by_events(drawn: list[list[str]], ended: bool) -> None:
    text = "\n---\n".join("\n".join(lines) for lines in drawn) + "\n" * ended
    try:
        found = read(text)
    except UnreadError:
        return
    assert described(found) == described(by_events(text))
