"""Objects of one document, each edited by itself: the same text as edited one after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import document_edits, edit, large_documents
from policykit.manifests.document_edits import apply
from policykit.manifests.large_documents import Document, ObjectPatches, TooManyError, edits, spliced
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError, Patch

BLOCK = """\
# head
kind: List
items:
# first
- a: 1
  b: {c: 2} # two
-   # odd
    a: x

- a:
    - y
metadata: {}
"""


def changed(text: str, changes: list[ObjectPatches]) -> str:
    return spliced(text, edits(text, changes))


def one_after_another(text: str, changes: list[ObjectPatches]) -> str:
    led = [p._replace(path=(*c.base, *p.path)) for c in changes for p in c.patches]
    return apply(text, led)


def item(position: int, *patches: Patch) -> ObjectPatches:
    return ObjectPatches(("items", position), patches)


ADD = Patch("add", ("z", "deep"), ["v"])
REMOVE = Patch("remove", ("a",))
REPLACE = Patch("replace", ("a",), "other")


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        BLOCK.replace("\n", "\r\n"),
        BLOCK.removesuffix("metadata: {}\n"),
        BLOCK.removesuffix("\nmetadata: {}\n"),
        "items:\n" + "".join(f"  {line}\n" for line in BLOCK.splitlines()[4:-1]),
        'items: [{"a": 1}, {"a": 2}, {"a": 3}]\n',
        "items: [{a: 1},\n  {a: 2}, {a: 3}]\n",
        '{"kind": "List", "items": [{"a": 1}, {"a": 2},\n{"a": 3}], "n": 1}',
        '{\n  "items": [\n    {\n      "a": 1\n    },\n    {\n      "a": [2],\n      "é": {}},\n    {"a": 3,'
        ' "b": 4}\n  ]\n}\n',
        '{\r\n\t"items": [\r\n\t\t{\r\n\t\t\t"a": 1\r\n\t\t}, {"a": 2}, {"a": 3}]}',
        "items:\n- {a: '*/5 */2'}\n- {a: 2}\n- {a: 3}\n",
        "x: &here [1]\nitems:\n- a: *here\n- a: 2\n- {a: 3}\n",
        "items:\n- {a: 1}\n- {a: 2}\n- {a: 3, b: '*no alias'}\n",
    ],
    ids=[
        "block",
        "CRLF",
        "at the end",
        "no newline",
        "indented",
        "flow in block",
        "flow",
        "JSON",
        "indented JSON",
        "JSON with tabs",
        "schedule",
        "alias",
        "flow items",
    ],
)
@pytest.mark.parametrize(
    "changes",
    [
        [item(0, ADD), item(1, ADD), item(2, ADD)],
        [item(2, REPLACE, ADD), item(0, REPLACE)],
        [item(1, ADD, REMOVE)],
        [item(0), item(1, REPLACE)],
        [],
    ],
    ids=["all", "two", "one", "an empty one", "none"],
)
def test_apart_is_as_one_after_another(text: str, changes: list[ObjectPatches]) -> None:
    assert changed(text, changes) == one_after_another(text, changes)


def test_an_object_deep_inside() -> None:
    text = "items:\n- kind: List\n  items:\n  - a: 1\n  - a: 2\n- a: 3\n"
    deep = [ObjectPatches(("items", 0, "items", 1), (REPLACE,)), item(1, REPLACE)]
    assert changed(text, deep) == text.replace("a: 2", "a: other").replace("a: 3", "a: other")


def test_the_document_itself() -> None:
    assert changed("a: 1\n", [ObjectPatches((), (REPLACE,))]) == "a: other\n"


def test_a_value_that_others_share_is_not_changed() -> None:
    text = "items:\n- &one {a: 1}\n- *one\n"
    with pytest.raises(EditError):
        changed(text, [item(0, REPLACE), item(1, ADD)])


def test_a_long_list_is_not_read_once_for_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counting(text: str) -> list[Node | None]:
        read.append(len(text))
        return edit.read(text)

    for module in (large_documents, document_edits):
        monkeypatch.setattr(module, "read", counting)
    for text in (
        '{"items": [' + ", ".join(['{"a": "*/5 */2"}'] * 50) + "]}",
        "items:\n" + "- a: '*/5 */2'\n" * 50,
    ):
        read.clear()
        edits(text, [item(position, REPLACE) for position in range(50)])
        assert [size for size in read if size >= len(text)] == [len(text)]


def test_a_large_document_takes_only_so_many_changes_that_concern_all_of_it() -> None:
    document = Document(f"a: {'x' * 200_000}\nitems:\n- a: 1\n")
    for number in range(20):
        document.edits([Patch("add", ("n",), number)])
    with pytest.raises(TooManyError):
        document.edits([Patch("add", ("n",), 20)])
    assert document.edits([Patch("replace", ("items", 0, "a"), 2)])


SCALARS = st.sampled_from(
    ["1", "x", "'q'", "{b: 1}", "[1, 2]", "|\n    text\n    --- more", ">-\n    t", "", "# c"]
)


@given(
    st.lists(SCALARS, min_size=2, max_size=6),
    st.lists(st.sampled_from([ADD, REPLACE]), min_size=1, max_size=2),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "metadata: {}\n", "# end\n"]),
)
def test_any_list(values: list[str], patches: list[Patch], newline: str, tail: str) -> None:
    text = "kind: List\nitems:\n" + "".join(f"- a: {value}\n  n: 0\n" for value in values) + tail
    text = text.replace("\n", newline)
    changes = [item(position, *patches) for position in range(len(values))]
    assert changed(text, changes) == one_after_another(text, changes)
