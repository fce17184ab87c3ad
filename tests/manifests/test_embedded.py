"""Texts inside strings: read, found again in the file, edited in place."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.embedded import EmbeddedText, apply_inside, embedded, kinds, strings
from policykit.manifests.parser import parse
from policykit.manifests.patch import EditError, Patch

LITERAL = """\
kind: ConfigMap # outer
data:
  conf: |
    kind: Inner
    list:
      - a # first

    end: 1
  other: x
"""


def _inside(outer: str) -> EmbeddedText:
    (parsed,) = parse(outer)
    assert parsed.root
    ((path, node),) = strings(parsed.root)
    return embedded(outer, path, node)


SPELLINGS = {
    "literal": (LITERAL, True),
    "literal, CRLF": (LITERAL.replace("\n", "\r\n"), True),
    "literal, byte order mark": ("\ufeff" + LITERAL, True),
    "literal, stripped": (LITERAL.replace("conf: |", "conf: |-  # c"), True),
    "literal, indentation stated": ("d:\n  conf: |2\n    kind: Inner\n    list: [a]\n", True),
    "literal, anchored": ("conf: &x |\n kind: Inner\n list: [a]\n", True),
    "folded": ("conf: >\n  kind: Inner\n\n  list: [a]\n\n  end: 1\n", False),
    "double quotes": ('conf: "kind: Inner\\nlist: [\\"a\\", \\u0061]\\nend: 1\\n"\n', False),
    "double quotes over lines": ('conf: "kind: Inner\\n\\\n  list: [a]\\n"\n', False),
    "single quotes": ("conf: 'kind: Inner\n\n  list: [''a'']\n\n  end: 1'\n", False),
    "JSON": ('{"conf": "{\\n  \\"kind\\": \\"Inner\\",\\n  \\"list\\": [\\"a\\"]\\n}\\n"}\n', False),
}


@pytest.mark.parametrize(("outer", "literal"), SPELLINGS.values(), ids=SPELLINGS)
def test_every_word_is_found_in_the_file(outer: str, literal: bool) -> None:
    inside = _inside(outer)
    assert kinds(inside.text) == {"Inner"}
    assert inside.literal == literal
    for word in ("kind", "Inner", "list"):
        at = inside.text.index(word)
        assert outer[inside.offset(at) :].startswith(word)
    assert [outer[inside.offset(i)] for i, c in enumerate(inside.text) if c in ":[]"] == [
        c for c in inside.text if c in ":[]"
    ]


def test_lines_and_columns() -> None:
    assert _inside(LITERAL).place(LITERAL, 2, 4) == (5, 8)
    assert _inside(LITERAL).place(LITERAL, 4, 5) == (7, 9)
    quoted = SPELLINGS["double quotes"][0]
    assert _inside(quoted).place(quoted, 1, 0) == (0, quoted.index("list"))


def test_what_has_no_kind() -> None:
    assert kinds("a: [") == frozenset()
    assert kinds("- 1\n---\nkind: 3\n") == frozenset()


def test_literal_edited_in_place() -> None:
    patches = [Patch("add", ("list", "-"), {"b": 1}), Patch("remove", ("end",)), Patch("add", ("more",), "x")]
    assert apply_inside(LITERAL, ("data", "conf"), patches) == LITERAL.replace(
        "      - a # first\n\n    end: 1\n", "      - a # first\n      - b: 1\n    more: x\n\n"
    )


def test_quoted_text_becomes_a_literal_block() -> None:
    outer = 'a: 1 # c\nconf: "kind: Inner\\nend: 1\\n"\nb: 2\n'
    assert apply_inside(outer, ("conf",), [Patch("replace", ("end",), 2)]) == (
        "a: 1 # c\nconf: |\n  kind: Inner\n  end: 2\nb: 2\n"
    )


def test_json_stays_json() -> None:
    assert (
        apply_inside('{"conf": "a: 1\\n"}', ("conf",), [Patch("add", ("b",), 2)])
        == '{"conf": "a: 1\\nb: 2\\n"}'
    )


@pytest.mark.parametrize("path", [("data", "no"), ("data",), ("data", "conf", 0)])
def test_no_text_there(path: tuple[str | int, ...]) -> None:
    with pytest.raises(EditError):
        apply_inside(LITERAL, path, [Patch("add", ("a",), 1)])


_inner = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.lists(st.text("kl mn", min_size=1), max_size=3),
    min_size=1,
    max_size=3,
)


@given(_inner, st.sampled_from(["|", ">", '"', "'"]), st.integers(2, 4), st.booleans(), st.data())
def test_changes_inside_never_touch_the_outside(
    inner: dict[str, list[str]], style: str, indent: int, windows: bool, data: st.DataObject
) -> None:
    text = yaml.safe_dump(inner, indent=indent) + "# tail\n"
    body = yaml.dump(text, default_style=style, width=10_000, indent=indent, allow_unicode=True)
    nested = body.replace("\n", "\n  ").rstrip(" ")
    outer = f"before: 1 # x\nmap:\n  conf: {nested}after: [1] # y\n"
    outer = outer.replace("\n", "\r\n") if windows else outer
    key = data.draw(st.sampled_from(sorted(inner)))
    patches = [
        Patch("add", (key, "-"), {"k": "v"}),
        Patch("add", ("new",), {"x": [1]}),
        Patch("remove", (key,)),
    ]
    changed = apply_inside(outer, ("map", "conf"), patches[: data.draw(st.integers(1, 3))])
    assert changed.startswith(outer.partition("conf:")[0])
    assert changed.endswith(outer[outer.index("after:") :])
    assert "# tail" in _inside(changed).text
