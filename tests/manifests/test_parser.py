"""Documents, duplicates, merges and the problems that end a document, each with its place."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests import parsed_document
from policykit.manifests.parser import MAX_DEPTH, Problem, parse


def data(text: str) -> list[object]:
    return [parsed.root.data if parsed.root else None for parsed in parse(text)]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("# only a comment\n", []),
        ("---\n", [None]),
        ("a: 1\n", [{"a": 1}]),
        ("a: 1\n---\nb: [x, 'y', 8]\n", [{"a": 1}, {"b": ["x", "y", 8]}]),
        ('{"a": {"b": ["1", 2, null, true]}}', [{"a": {"b": ["1", 2, None, True]}}]),
        ("a: 1\r\nb: 2\r\n", [{"a": 1, "b": 2}]),
        ("1: a\ntrue: b\nnull: c\n", [{"1": "a", "true": "b", "null": "c"}]),
        (
            "base: &x {a: 1, b: 2}\nuse:\n  <<: *x\n  b: 3\n",
            [{"base": {"a": 1, "b": 2}, "use": {"b": 3, "a": 1}}],
        ),
        (
            "p: &p {a: 1}\nq: &q {a: 2, c: 3}\nr: {<<: [*p, *q]}\n",
            [{"p": {"a": 1}, "q": {"a": 2, "c": 3}, "r": {"a": 1, "c": 3}}],
        ),
        ("a: &x [1]\nb: *x\n", [{"a": [1], "b": [1]}]),
        ("port: 22:22\nmode: 0644\nold: yes\n", [{"port": "22:22", "mode": 420, "old": True}]),
        ("text: |\n  one\n  two\n", [{"text": "one\ntwo\n"}]),
        # Files with a byte order mark, one after the other.
        (
            "\ufeffa: 1\n--- # 2\r\n\ufeffb: 2\nc: 3\n---\n\ufeffd: 4\n",
            [{"a": 1}, {"b": 2, "c": 3}, {"d": 4}],
        ),
    ],
)
def test_data(text: str, documents: list[object]) -> None:
    assert data(text) == documents


def test_what_follows_a_byte_order_mark_keeps_its_place() -> None:
    text = "a: 1\n---\n\ufeffb: 2\nc: 3\n"
    *_, last = parse(text)
    assert last.root is not None
    there = last.root.child("c")
    assert there is not None
    assert text[there.start_offset : there.end_offset] == "3"
    assert there.start == (3, 3)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("a: b: c\n", 0, 4, "mapping values"),
        ("a:\n\tb: 1\n", 1, 0, "cannot start any token"),
        ("a: [1\n", 1, 0, "did not find expected"),
        ("a: 'x\n", 1, 0, "unexpected end of stream"),
        ("a: *nowhere\n", 0, 3, "no anchor"),
        ("a: &x [*x]\n", 0, 7, "contains itself"),
        ("? [a]\n: b\n", 0, 2, "must be a string"),
        ("a: 1\nb: \x00\n", 1, 3, "U+0000"),
        ("<<: 1\n", 0, 4, "needs a mapping"),
        ("a: 1\n---\nb: !<%C0%80> [x]\n", 1, 0, "a tag has %-escapes that are not UTF-8"),
        ("[" * (MAX_DEPTH + 1), 0, MAX_DEPTH, "levels deep"),
        # Deeper than libyaml reads: its error comes before the first of these events.
        ("é: 1\n---\n- " + "[" * 5_000, 2, MAX_DEPTH + 1, "levels deep"),
        ("a: b: c\n---\n- " + "{a: " * 2_000, 2, 2 + 4 * (MAX_DEPTH - 1), "levels deep"),
    ],
)
def test_problems(text: str, line: int, column: int, says: str) -> None:
    problem = list(parse(text))[-1].problem
    assert problem is not None
    assert (problem.line, problem.column) == (line, column)
    assert says in problem.message


def test_ten_thousand_levels_end_as_a_problem() -> None:
    for text in (
        "[" * 10_000,
        "{a: " * 10_000,
        "- " * 10_000,
        "".join(f"{' ' * n}a:\n" for n in range(10_000)),
    ):
        (parsed,) = parse(text)
        assert parsed.problem is not None


def test_reading_goes_on_at_the_next_document() -> None:
    parsed = list(parse("a: 1\n---\nb: c: d\n---\ne: 5\n"))
    assert [p.problem is None for p in parsed] == [True, False, True]
    assert parsed[2].root is not None
    assert parsed[2].root.data == {"e": 5}
    assert parsed[2].root.start.line == 4


def test_a_duplicate_key_is_kept_with_both_places() -> None:
    (parsed,) = parse("a: 1\nb:\n  c: 1\n  c: 2\n")
    (duplicate,) = parsed.duplicates
    assert (duplicate.key, duplicate.node.start.line, duplicate.first.start.line) == ("c", 3, 2)
    assert parsed.root is not None
    assert parsed.root.data == {"a": 1, "b": {"c": 2}}


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_what_aliases_repeat_is_shared() -> None:
    (parsed,) = parse(_bomb(6))
    assert parsed.root is not None
    assert parsed.root.data["a5"][0] is parsed.root.data["a4"]


def test_an_alias_bomb_is_refused_at_the_alias_that_goes_too_far() -> None:
    bomb, after = parse(_bomb(30) + "\n---\nb: 1\n")
    assert bomb.root is None
    assert bomb.problem == Problem("aliases repeat more than 400000 nodes", 6, 19)
    assert after.root is not None
    assert after.root.data == {"b": 1}


def test_aliases_do_not_hide_depth() -> None:
    lines = ["a0: &a0 x"] + [f"a{n}: &a{n} {'[' * 90}*a{n - 1}{']' * 90}" for n in range(1, 4)]
    (parsed,) = parse("\n".join(lines))
    assert parsed.problem == Problem("nested more than 200 levels deep", 3, 98)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc./-", min_size=1), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values)
def test_json_reads_as_itself(value: object) -> None:
    assert data(json.dumps({"value": value})) == [{"value": value}]


@given(json_values)
def test_what_pyyaml_writes_reads_back(value: object) -> None:
    """Quoted and tagged: plain scalars follow other rules than PyYAML's."""
    assert data(yaml.safe_dump(value, allow_unicode=True, default_style='"')) == [value]


@given(st.text("ab:-[]{}#&*!|>'\"%@` \n\t,?", max_size=60))
def test_any_text_ends_as_documents_or_problems(text: str) -> None:
    for parsed in parse(text):
        assert parsed.root is None or parsed.problem is None


def test_a_document_of_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_document, "MAX_VALUES", 5)
    text = "{a: [1, 2]}\n---\n[1,\n 2, 3, 4, 5]\n---\nb: 1\n"
    found = list(parse(text))
    assert [each.problem for each in found] == [
        None,
        Problem("more than 5 keys, values and items", 2, 0),
        None,
    ]
