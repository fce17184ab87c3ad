"""The items of a large list, read one after the other, are those that are read with the whole."""

from __future__ import annotations

import pytest

from policykit.extension import compiled
from policykit.manifests import compiled_reader
from policykit.manifests.large_lists import large_list
from policykit.manifests.node import Node
from policykit.manifests.parsed_document import ParsedDocument, UnreadError
from policykit.manifests.parser import as_yaml
from tests.manifests.trees import by_events, described

HEAD = "apiVersion: v1\nkind: List\nitems:\n"
READ_BY_ITEM = {
    "dashes at the margin": HEAD + "- a: 1\n  b: [x, y]\n- a: 2\n",
    "indented dashes": HEAD + "  - a: 1\n    b:\n    - c\n    - d: 3\n  - a: 2\n",
    "the kind behind the items": "items:\n- a: 1\n- a: 2\nkind: List\nmetadata:\n  resourceVersion: ''\n",
    "behind a marker": "---\n" + HEAD + "- a: 1\n- b: 2\n",
    "returns": (HEAD + "- a: 1\n  b: 'x\n    y'\n-\n  c: 2\n").replace("\n", "\r\n"),
    "comments between": HEAD + "- a: 1 # two\n  # three\n# four\n\n- b: 2\n\n# five\n",
    "literal text": HEAD + "- a: |\n    - b: 1\n    c\n\n- a: |+\n    d\n\n\n- >-\n  e\n\n  f\n- g: 1\n",
    "quotes": HEAD + "- \"a - b\": 'it''s - c'\n- 'd: e'\n- f: \"g\n    h\"\n",
    "other characters": HEAD + "- ä: 日本\n- b: 😀\n- c: 1\n",
    "items of another kind": HEAD + "- a\n-\n- [x]\n- - y\n  - z\n- {b: 1}\n",
    "aliases in one item": HEAD + "- a: &x {b: 1}\n  c: *x\n- a: &x 2\n  d: {<<: {e: 1}, f: *x}\n",
    "a list in a list": HEAD + "- kind: List\n  items:\n  - a: 1\n  - b: 2\n- c: 1\n",
    "JSON": '{"apiVersion": "v1", "items": [{"a": "]}, \\" {["}, {"b": [{"c": 1.0}, []]}], "kind": "List"}\n',
    "JSON on many lines": '{\n "kind": "List",\n "items": [\n  {\n   "a": {}\n  },\n  {}\n ]\n}\n',
    "flow": "{kind: List, items: [\n {a: it's, 'b': 'it''s ]'},\n {c: \"{\", d: [x, {e: f}]}, ]}\n".replace(
        ", ]}", "]}"
    ),
    "a byte order mark": "\ufeff" + HEAD + "- a: 1\n",
}
READ_AS_A_WHOLE = {
    "another kind": "kind: Deployment\nitems:\n- a: 1\n",
    "no list": "kind: List\nitems: {a: 1}\n",
    "several documents": HEAD + "- a: 1\n---\n" + HEAD + "- b: 1\n",
    "no items": HEAD + "kind: List\n",
    "items twice": HEAD + "- a: 1\nitems:\n- b: 1\n",
    "a key twice": HEAD + "- a: 1\nkind: List\n",
    "items of something else": '{"kind": "List", "metadata": {"items": [{"a": 1}]}, "items": []}',
    "items elsewhere": '{"kind": "List", "metadata": {"items": [{"a": 1}]}}',
    "scalars in flow": "{kind: List, items: [{a: 1}, b]}",
    "nothing behind a comma": "{kind: List, items: [{a: 1}, ]}",
    "an open bracket": "{kind: List, items: [{a: 1}, {b: 2]}",
    "a comment before the items": HEAD + "# one\n- a: 1\n",
    "an anchor": "kind: List\nitems: &x\n- a: 1\n",
    "an item below less than its dash": "kind: List\nitems:\n  - a: 1\n - b: 2\n",
}
UNREAD = {
    "an alias of another item": HEAD + "- a: &x 1\n- b: *x\n",
    "a key twice in an item": HEAD + "- a: 1\n- b: 1\n  b: 2\n",
    "a problem": HEAD + "- a: 1\n- b: [\n- c: 1\n",
    "text in quotes that looks like an item": HEAD + '- a: "b\n- c: 1\n  "\n- d: 1\n',
    "brackets around what looks like an item": HEAD + "- a: [b,\n- c]\n",
}


@pytest.fixture(params=["any reader", "the reader of events"], autouse=True)
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "the reader of events":
        if compiled is None:
            pytest.skip("there is no other one")
        monkeypatch.setattr(compiled_reader, "available", lambda: False)


def assert_same(text: str) -> None:
    """The items of a list are those of the whole, at the same places."""
    found = large_list(text)
    (whole,) = by_events(text)
    assert found is not None
    assert found.root is not None
    assert found.items is not None
    assert whole.root is not None
    entries: list[Node] = whole.root.entries["items"][1].entries
    read = [described([ParsedDocument(item, 0)]) for item in found.items]
    assert read == [described([ParsedDocument(item, 0)]) for item in entries]
    assert {**found.root.data, "items": None} == {**whole.root.data, "items": None}


@pytest.mark.parametrize("text", list(READ_BY_ITEM.values()), ids=list(READ_BY_ITEM))
def test_items_are_those_of_the_whole(text: str) -> None:
    assert_same(text)


@pytest.mark.parametrize("text", list(READ_AS_A_WHOLE.values()), ids=list(READ_AS_A_WHOLE))
def test_read_as_a_whole(text: str) -> None:
    assert large_list(as_yaml(text)) is None


@pytest.mark.parametrize("text", list(UNREAD.values()), ids=list(UNREAD))
def test_items_that_depend_on_the_whole(text: str) -> None:
    found = large_list(text)
    assert found is not None
    assert found.items is not None
    with pytest.raises(UnreadError):
        list(found.items)
