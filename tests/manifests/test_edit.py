"""Edits: exactly the text meant, and not a byte elsewhere."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from policykit.manifests.document_edits import apply
from policykit.manifests.edit import edit, same, spliced
from policykit.manifests.parser import parse
from policykit.manifests.patch import EditError, Move, Patch, differences, patched
from policykit.manifests.path import Path, Step

NESTED = """\
# top
a:   1  # one
items:
  - name: x   # first
    tags: [p, "q"]
  # second
  - name: 'y'
text: |
  line

last: {k: v}
"""

CASES = {
    "key behind the last, its comment kept": (
        "a: 1 # c\n",
        Patch("add", ("b",), 2),
        "a: 1 # c\nb: 2\n",
    ),
    "item on one line where its neighbours are": (
        "t:\n- {key: a, operator: Exists} # x\nb: 1\n",
        Patch("add", ("t", "-"), {"key": "c", "values": ["d"]}),
        "t:\n- {key: a, operator: Exists} # x\n- {key: c, values: [d]}\nb: 1\n",
    ),
    "item on one line in JSON's quotes": (
        't:\r\n  - {"key": "a"}\r\n',
        Patch("add", ("t", 0), {"key": "c"}),
        't:\r\n  - {"key": "c"}\r\n  - {"key": "a"}\r\n',
    ),
    "item too long for one line": (
        "t:\n- {key: a}\n",
        Patch("add", ("t", "-"), {"key": "c" * 100}),
        f"t:\n- {{key: a}}\n- key:\n    {'c' * 100}\n",
    ),
    "quotes in flow style stay": (
        "a: {b: 'x', c: \"y\"}\n",
        Patch("replace", ("a", "b"), "z"),
        "a: {b: 'z', c: \"y\"}\n",
    ),
    "key at the end of a text without line ending": ("a: 1", Patch("add", ("b",), [1]), "a: 1\nb:\n  - 1"),
    "key in a nested mapping with deep indentation": (
        "a:\n     b: 1\nc: 2\n",
        Patch("add", ("a", "d"), {"e": "f"}),
        "a:\n     b: 1\n     d:\n          e: f\nc: 2\n",
    ),
    "metadata comes above spec": (
        "template:\n  spec: {a: 1}\n",
        Patch("add", ("template", "metadata", "labels", "b"), "c"),
        "template:\n  metadata:\n    labels:\n      b: c\n  spec: {a: 1}\n",
    ),
    "metadata above spec in an item": (
        "- spec:\r\n    a: 1\r\n",
        Patch("add", (0, "metadata"), {"b": "c"}),
        "- metadata:\r\n    b: c\r\n  spec:\r\n    a: 1\r\n",
    ),
    "a comment stays with the key below it": (
        "a: 1\n# what it is\nspec: {}\n",
        Patch("add", ("metadata",), 2),
        "a: 1\n# what it is\nspec: {}\nmetadata: 2\n",
    ),
    "dashes below the key, as the document has them": (
        "a:\n- b\nc: 1\n",
        Patch("add", ("d",), [{"e": [1]}]),
        "a:\n- b\nc: 1\nd:\n- e:\n  - 1\n",
    ),
    "indented as most of the document": (
        "a:\n- b\nc:\n    - d\n    - e:\n          - f\n",
        Patch("add", ("g",), {"h": [1]}),
        "a:\n- b\nc:\n    - d\n    - e:\n          - f\ng:\n  h:\n      - 1\n",
    ),
    "key behind a literal block and its blank line": (
        "a:\n  t: |\n    x\n\nb: 1\n",
        Patch("add", ("a", "u"), 1),
        "a:\n  t: |\n    x\n  u: 1\n\nb: 1\n",
    ),
    "key behind a kept literal block": (
        "a:\n  t: |+\n    x\n\nb: 1\n",
        Patch("add", ("a", "u"), 1),
        "a:\n  t: |+\n    x\n\n  u: 1\nb: 1\n",
    ),
    "item behind the last, sequence indented": (
        "l:\n    - a: 1\n      b: 2\nm: 1\n",
        Patch("add", ("l", "-"), {"a": 3, "b": 4}),
        "l:\n    - a: 1\n      b: 2\n    - a: 3\n      b: 4\nm: 1\n",
    ),
    "item behind the last, sequence not indented": (
        "l:\n- a # c\n# end\nm: 1\n",
        Patch("add", ("l", "-"), "b"),
        "l:\n- a # c\n- b\n# end\nm: 1\n",
    ),
    "item before the first": ("l:\n  - a\n", Patch("add", ("l", 0), {"x": 1}), "l:\n  - x: 1\n  - a\n"),
    "item between": ("- a\n# of b\n- b\n", Patch("add", (1,), "m"), "- a\n- m\n# of b\n- b\n"),
    "flow sequence": ("l: [a, b ]\n", Patch("add", ("l", "-"), "c,d"), 'l: [a, b, "c,d" ]\n'),
    "flow sequence, in the middle": ("l: [a, b]\n", Patch("add", ("l", 1), 5), "l: [a, 5, b]\n"),
    "flow mapping": ("m: {a: 1}\n", Patch("add", ("m", "b"), {"c": [1]}), "m: {a: 1, b: {c: [1]}}\n"),
    "empty flow mapping opens up": (
        "m: {} # c\nn: 1\n",
        Patch("add", ("m", "b"), 1),
        "m:\n  b: 1 # c\nn: 1\n",
    ),
    "literal block where the text had no line ending": (
        "a: 1",
        Patch("add", ("b",), ["x\ny\n"]),
        "a: 1\nb:\n  - |\n    x\n    y\n",
    ),
    "text of two lines before a comment": (
        "a: {b: 1} # c\n",
        Patch("replace", ("a",), "x\ny\n"),
        'a: "x\\ny\\n" # c\n',
    ),
    "null opens up": ("m: # c\nn: 1\n", Patch("add", ("m", "b"), 1), "m:\n  b: 1 # c\nn: 1\n"),
    "missing parents": (
        "a: 1\n",
        Patch("add", ("b", "c", "-", "d"), "e"),
        "a: 1\nb:\n  c:\n    - d: e\n",
    ),
    "JSON stays JSON": (
        '{\n  "a": 1,\n  "b": []\n}\n',
        Patch("add", ("c",), {"d": "e"}),
        '{\n  "a": 1,\n  "b": [],\n  "c": {\n    "d": "e"\n  }\n}\n',
    ),
    "JSON with tabs": (
        '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
        Patch("add", ("a", "c"), [{"d": "e"}]),
        '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": [\n\t\t\t{\n\t\t\t\t"d": "e"\n\t\t\t}\n\t\t]\n\t}\n}\n',
    ),
    "JSON on one line": (
        '{"a": {"b": 1}}',
        Patch("add", ("a", "c"), [{"d": 1}]),
        '{"a": {"b": 1, "c": [{"d": 1}]}}',
    ),
    "a whole document in flow style, without quotes": (
        "{a: 1, b: {c: d}}\n",
        Patch("add", ("b", "e"), {"f": "g"}),
        "{a: 1, b: {c: d, e: {f: g}}}\n",
    ),
    "behind a comment that stands further right": (
        "a:\n  - b\n  # the end of a\nc: 1\n",
        Patch("add", ("a", "-"), "d"),
        "a:\n  - b\n  - d\n  # the end of a\nc: 1\n",
    ),
    "a key behind a deeper comment": (
        "a:\n  b:\n    c: 1\n    # the end of b\n",
        Patch("add", ("a", "d"), 2),
        "a:\n  b:\n    c: 1\n    # the end of b\n  d: 2\n",
    ),
    "JSON, first item": ('{"b": []}', Patch("add", ("b", "-"), "x"), '{"b": ["x"]}'),
    "CRLF": (
        "a:\r\n  b: 1\r\nc: 2\r\n",
        Patch("add", ("a", "d"), [1]),
        "a:\r\n  b: 1\r\n  d:\r\n    - 1\r\nc: 2\r\n",
    ),
    "byte order mark": ("\ufeffa: 1\n", Patch("replace", ("a",), 2), "\ufeffa: 2\n"),
    "scalar": ("a:   1  # one\n", Patch("replace", ("a",), 20), "a:   20  # one\n"),
    "scalar keeps double quotes": ('a: "1"\n', Patch("replace", ("a",), "2"), 'a: "2"\n'),
    "scalar keeps single quotes": ("a: 'x'\n", Patch("replace", ("a",), "it's"), "a: 'it''s'\n"),
    "scalar of another type loses its quotes": ("a: '1'\n", Patch("replace", ("a",), 1), "a: 1\n"),
    "text that needs quotes gets them": ("a: x\n", Patch("replace", ("a",), "yes"), 'a: "yes"\n'),
    "null": ("a:\nb: 1\n", Patch("replace", ("a",), 2), "a: 2\nb: 1\n"),
    "literal block by a word": ("a: |\n  x\n  y\n\nb: 1\n", Patch("replace", ("a",), "z"), "a: z\n\nb: 1\n"),
    "word by a literal block": (
        "a:\n  b: x\n",
        Patch("replace", ("a", "b"), "y\nz\n"),
        "a:\n  b: |\n    y\n    z\n",
    ),
    "collection by a word": ("a:\n  - 1\n  - 2\nb: 1\n", Patch("replace", ("a",), "x"), "a: x\nb: 1\n"),
    "word by a collection": ("a: x\nb: 1\n", Patch("replace", ("a",), {"c": 1}), "a:\n  c: 1\nb: 1\n"),
    "item": (
        "- a\n- b: 1\n  c: 2\n- d\n",
        Patch("replace", (1,), {"x": 1, "w": 2}),
        "- a\n- x: 1\n  w: 2\n- d\n",
    ),
    "item that is null": ("-\n- a\n", Patch("replace", (0,), "z"), "- z\n- a\n"),
    "remove a key": ("a: 1\n# b\nb: 2 # x\nc: 3\n", Patch("remove", ("b",)), "a: 1\n# b\nc: 3\n"),
    "remove the first key of an item": ("- a: 1\n  b: 2\n", Patch("remove", (0, "a")), "- b: 2\n"),
    "remove the last key of a text without line ending": ("a: 1\nb: 2", Patch("remove", ("b",)), "a: 1\n"),
    "remove an item with its lines": ("l:\n- a: 1\n  b: 2\n- c\n", Patch("remove", ("l", 0)), "l:\n- c\n"),
    "remove the only item": ("l:\n  - a\nm: 1\n", Patch("remove", ("l", 0)), "l: []\nm: 1\n"),
    "remove from flow": ("l: [a, b, c]\n", Patch("remove", ("l", 1)), "l: [a, c]\n"),
    "remove the last of flow": ("l: {a: 1, b: 2}\n", Patch("remove", ("l", "b")), "l: {a: 1}\n"),
    "below a comment and a quoted item": (
        NESTED,
        Patch("add", ("items", 0, "tags", "-"), "r"),
        NESTED.replace('[p, "q"]', '[p, "q", r]'),
    ),
    "rename keeps the place, the value and the comment": (
        "a: 1\nb:   {c: 2}  # why\nd: 3\n",
        Patch("rename", ("b",), "x.io/y"),
        "a: 1\nx.io/y:   {c: 2}  # why\nd: 3\n",
    ),
    "rename keeps quotes": ("'a': 1\n", Patch("rename", ("a",), "it's"), "'it''s': 1\n"),
    "rename to a key that needs quotes": ("a: 1\n", Patch("rename", ("a",), "yes"), '"yes": 1\n'),
    "rename in flow style": (
        "m: {a: 1, b: 2}\n",
        Patch("rename", ("m", "b"), "c,d"),
        'm: {a: 1, "c,d": 2}\n',
    ),
    "rename in JSON": ('{"a": {"b": 1}}', Patch("rename", ("a", "b"), "c"), '{"a": {"c": 1}}'),
    "rename beside a dash": ("- a: 1\n  b: 2\n", Patch("rename", (0, "a"), "c"), "- c: 1\n  b: 2\n"),
    "move under the empty key above": (
        "m:\n    l:\n    a: x # one\n    b: y\n",
        Patch("move", ("m",), Move(("a",), ("l", "a"))),
        "m:\n    l:\n        a: x # one\n    b: y\n",
    ),
    "move with the comment above": (
        "l: # of app\na: 1\n# on b\nb:\n- c: 2 # two\n  d: |\n    text\n\n    more\ne: 3\n",
        Patch("move", (), Move(("b",), ("l", "b"))),
        "l: # of app\n  # on b\n  b:\n  - c: 2 # two\n    d: |\n      text\n\n      more\na: 1\ne: 3\n",
    ),
    "move out of a mapping, to the end": (
        "m:\n  a: 1\n  s:\n    b: 'x'  # why\n  c: 2\nd: 3\n",
        Patch("move", (), Move(("m", "s"), ("s",))),
        "m:\n  a: 1\n  c: 2\nd: 3\ns:\n  b: 'x'  # why\n",
    ),
    "move out of the last mapping, where it stands": (
        "m:\n  a: 1\n  s:\n    b: 1",
        Patch("move", (), Move(("m", "s"), ("s",))),
        "m:\n  a: 1\ns:\n  b: 1",
    ),
    "move makes the parents that are missing": (
        "s:\r\n  t:\r\n  - a: 1 # x\r\n    b: 2\r\n  m:\r\n    x: 1\r\n",
        Patch("move", ("s",), Move(("t",), ("m", "s", "t"))),
        "s:\r\n  m:\r\n    x: 1\r\n    s:\r\n      t:\r\n      - a: 1 # x\r\n        b: 2\r\n",
    ),
    "move into a mapping of its own": (
        'g:\n  "a/b": "1" # c\n',
        Patch("move", ("g",), Move(("a/b",), ("r", "a/b"))),
        'g:\n  r:\n    "a/b": "1" # c\n',
    ),
    "move what stands beside a dash": (
        "- l:\n    x: 1 # y\n  n: a\n  r:\n- z: 1\n",
        Patch("move", (0,), Move(("l",), ("r", "l"))),
        "- n: a\n  r:\n    l:\n      x: 1 # y\n- z: 1\n",
    ),
    "move the only field of an item into a mapping of its own": (
        "- a: 1 # x\n- b\n",
        Patch("move", (0,), Move(("a",), ("c", "a"))),
        "- c:\n    a: 1 # x\n- b\n",
    ),
    "move the last line of a text without line ending": (
        "l:\nm:\n  - 1\nb: 2",
        Patch("move", (), Move(("b",), ("l", "b"))),
        "l:\n  b: 2\nm:\n  - 1",
    ),
    "move in flow style": (
        "m: {a: null, t: [1]}\n",
        Patch("move", ("m",), Move(("t",), ("a", "t"))),
        "m: {a: {t: [1]}}\n",
    ),
    "mapping with a merge key": (
        "x: &x {a: 1}\nz:\n  <<: *x\n  b: 2\n",
        Patch("add", ("z", "c"), 3),
        "x: &x {a: 1}\nz:\n  <<: *x\n  b: 2\n  c: 3\n",
    ),
}


@pytest.mark.parametrize(("before", "patch", "after"), CASES.values(), ids=CASES)
def test_one_change(before: str, patch: Patch, after: str) -> None:
    assert apply(before, [patch]) == after


def test_only_the_named_document_changes() -> None:
    assert (
        apply("a: 1\n---\na: 1\n---\na: 1\n", [Patch("replace", ("a",), 2)], 1)
        == "a: 1\n---\na: 2\n---\na: 1\n"
    )


def test_changes_follow_each_other() -> None:
    patches = [Patch("add", ("b",), []), Patch("add", ("b", "-"), 1), Patch("add", ("b", "-"), 2)]
    assert apply("a: 1\n", patches) == "a: 1\nb:\n  - 1\n  - 2\n"


REFUSED = {
    "not YAML": ("a: [\n", Patch("add", ("b",), 1)),
    "empty": ("# nothing\n", Patch("add", ("b",), 1)),
    "no such key": ("a: 1\n", Patch("replace", ("b",), 1)),
    "no such item": ("a: [1]\n", Patch("remove", ("a", 3))),
    "into a scalar": ("a: 1\n", Patch("add", ("a", "b"), 1)),
    "below an alias": ("x: &x\n  a: 1\nz: *x\n", Patch("replace", ("z", "a"), 2)),
    "merged from elsewhere": ("x: &x {a: 1}\nz:\n  <<: *x\n  b: 1\n", Patch("remove", ("z", "a"))),
    "rename a key that is not there": ("a: 1\n", Patch("rename", ("b",), "c")),
    "rename to a key that is there": ("a: 1\nb: 2\n", Patch("rename", ("a",), "b")),
    "rename an item": ("- 1\n", Patch("rename", (0,), "a")),
    "rename the document": ("a: 1\n", Patch("rename", (), "b")),
    "rename what is merged from elsewhere": (
        "x: &x {a: 1}\nz:\n  <<: *x\n  b: 1\n",
        Patch("rename", ("z", "a"), "c"),
    ),
    "rename one of two keys of a name": ("a: 1\na: 2\n", Patch("rename", ("a",), "b")),
    "rename a key with an anchor": ("&k a: 1\n", Patch("rename", ("a",), "b")),
    "move to a key that is there": ("a:\n  b: 1\nb: 2\n", Patch("move", (), Move(("a", "b"), ("b",)))),
    "move what is not there": ("a: 1\n", Patch("move", (), Move(("b",), ("a", "b")))),
    "move into a scalar": ("a: 1\nb: 2\n", Patch("move", (), Move(("b",), ("a", "b")))),
    "move into itself": ("a: {b: 1}\n", Patch("move", (), Move(("a",), ("a", "b", "a")))),
    "move to where it is": ("a: 1\nb: 2\n", Patch("move", (), Move(("a",), ("a",)))),
    "move an anchor behind its alias": (
        "a: &x 1\nb: *x\nl:\n  c: 1\n",
        Patch("move", (), Move(("a",), ("l", "a"))),
    ),
    "an anchor that is used": ("x: &x 1\nz: *x\n", Patch("replace", ("x",), 2)),
}


@pytest.mark.parametrize(("text", "patch"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_an_error(text: str, patch: Patch) -> None:
    with pytest.raises(EditError):
        apply(text, [patch])


_words = st.text("abyz019 :#-'\"{}[],&*|%~", min_size=1, max_size=6)
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 99), _words, st.just("two\nlines\n"), st.just("two\n  lines")
)
_keys = st.sampled_from(["a", "b", "c/d", "e f", "yes", "1"])
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner, max_size=3)),
    max_leaves=12,
)
_documents = st.dictionaries(_keys, _values, min_size=1, max_size=4)


class _Indented(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    dumper = draw(st.sampled_from([yaml.SafeDumper, _Indented]))
    indent, flow = draw(st.sampled_from([2, 3, 4])), draw(st.sampled_from([False, None, True]))
    text: str = yaml.dump(
        draw(_documents), Dumper=dumper, indent=indent, default_flow_style=flow, sort_keys=False, width=10_000
    )
    if draw(st.booleans()):
        # Comments where they surely are comments: behind lines that end in a plain number or word.
        text = re.sub(r"(?m)^( *(?:- )*\w+: \d+)$", r"\1   # note", text)
        text = "# head\n" + text + "# tail\n"
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def _paths(data: Any, path: Path = ()) -> list[Path]:
    steps: list[Any] = list(data) if isinstance(data, dict) else []
    if isinstance(data, list):
        steps = list(range(len(data)))
    return [path, *(found for step in steps for found in _paths(data[step], (*path, step)))]


def _data(text: str) -> Any:
    (parsed,) = parse(text)
    assert parsed.root
    return parsed.root.data


@st.composite
def _changes(draw: st.DrawFn) -> tuple[str, Patch]:
    text = draw(_texts())
    data = _data(text)
    path: Path = draw(st.sampled_from(_paths(data)))
    at = data
    for step in path:
        at = at[step]
    op = draw(st.sampled_from(["add", "replace", "remove"]))
    if op == "add" and isinstance(at, dict):
        path = (*path, draw(st.sampled_from(["new", "n: w", "x.io/y"])))
    elif op == "add" and isinstance(at, list):
        places: list[Step] = ["-", 0, len(at)]
        path = (*path, draw(st.sampled_from(places)))
    else:
        assume(path and op != "add")
    return text, Patch(op, path, draw(_values))


@given(_changes())
def test_every_change_reads_back_as_intended(change: tuple[str, Patch]) -> None:
    text, patch = change
    changed = apply(text, [patch])
    assert same(_data(changed), patched(_data(text), patch))
    assert [note for note in ("# head", "# tail") if note in changed] == [
        note for note in ("# head", "# tail") if note in text
    ]
    assert ("\r\n" in text) <= ("\n" not in changed.replace("\r\n", ""))


@given(_changes())
def test_an_addition_only_inserts_and_a_removal_only_deletes(change: tuple[str, Patch]) -> None:
    text, patch = change
    parent = _data(text)
    for step in patch.path[:-1]:
        parent = parent[step]
    made = edit(text, patch)
    if patch.op == "add" and parent and patch.path[-1] not in parent:
        assert made.start == made.end
    if patch.op == "remove" and len(parent) > 1:
        assert made.text == ""
    assert spliced(text, made).startswith(text[: made.start])
    assert spliced(text, made).endswith(text[made.end :])


@st.composite
def _renamings(draw: st.DrawFn) -> tuple[str, Patch]:
    text = draw(_texts())
    keys = [path for path in _paths(_data(text)) if path and isinstance(path[-1], str)]
    return text, Patch("rename", draw(st.sampled_from(keys)), draw(st.one_of(_keys, _words)))


@given(_renamings())
def test_a_renaming_changes_the_key_alone(renaming: tuple[str, Patch]) -> None:
    text, patch = renaming
    try:
        intended = patched(_data(text), patch)
    except EditError:
        with pytest.raises(EditError):
            apply(text, [patch])
        return
    changed = apply(text, [patch])
    assert list(_data(changed)) == list(intended)
    assert same(_data(changed), intended)
    made = edit(text, patch)
    assert _data(f"{text[made.start : made.end]}: 1") == {patch.path[-1]: 1}
    assert "\n" not in made.text


@st.composite
def _moves(draw: st.DrawFn) -> tuple[str, Patch]:
    text = draw(_texts())
    paths = _paths(_data(text))
    old = draw(st.sampled_from([path for path in paths if path and isinstance(path[-1], str)]))
    under = draw(st.sampled_from([path for path in paths if path[: len(old)] != old]))
    between = draw(st.sampled_from([(), ("new",), ("new", "n: w")]))
    return text, Patch("move", (), Move(old, (*under, *between, old[-1])))


@given(_moves())
def test_a_move_reads_back_as_intended_or_is_refused(move: tuple[str, Patch]) -> None:
    text, patch = move
    try:
        intended = patched(_data(text), patch)
    except EditError:
        with pytest.raises(EditError):
            apply(text, [patch])
        return
    try:
        changed = apply(text, [patch])
    except EditError:
        # The one thing that cannot move as it is: a literal block without its last line ending.
        assert not text.endswith("\n") or "|" in text
        return
    assert same(_data(changed), intended)
    assert sorted(re.findall("# (?:head|tail)", text)) == sorted(re.findall("# (?:head|tail)", changed))
    assert ("\r\n" in text) <= ("\n" not in changed.replace("\r\n", ""))
    one = edit(text, patch)
    assert spliced(text, one) == changed


def test_a_key_that_gave_way_to_another_in_its_place_is_renamed() -> None:
    old = {"a": 1, "b": {"c": [True]}, "d": 2}
    assert list(differences(old, {"a": 1, "x": {"c": [True]}, "d": 2})) == [Patch("rename", ("b",), "x")]
    assert list(differences(old, {"a": 1, "x": {"c": [1]}, "d": 2})) == [
        Patch("remove", ("b",)),
        Patch("add", ("x",), {"c": [1]}),
    ]


@given(_values, _values)
def test_differences_lead_from_one_value_to_the_other(old: Any, new: Any) -> None:
    data = {"v": old}
    for patch in differences(data, {"v": new}):
        data = patched(data, patch)
    assert same(data, {"v": new})
