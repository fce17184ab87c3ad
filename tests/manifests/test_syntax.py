"""Broken YAML: where the cause stands and what it is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.manifests.parser import parse
from policykit.manifests.syntax import Cause, explain
from tests.shared import SHARED


def cause(text: str) -> Cause:
    problem = next((parsed.problem, parsed.start_line) for parsed in parse(text) if parsed.problem)
    return explain(text, *problem)


GANG = """\
spec:
    tasks:
    - name: worker
        replicas: 4
        template:
        spec:
            containers:
            - name: pytorch
                image: app:1.0
                resources:
                limits:
                    nvidia.com/gpu: 1
"""

CASES: list[tuple[str, str, tuple[int, int, int, int], str, str]] = [
    (
        "item keys too deep, twice",
        GANG,
        (4, 9, 4, 20),
        "`replicas` is indented deeper than `name` above it, which has a value already",
        "keys of one list item begin in the column of its first key; "
        "the blocks that begin at lines 4, 9 are indented too deep",
    ),
    (
        "item keys too deep, the last one",
        GANG.replace("        replicas", "      replicas")
        .replace("        template", "      template")
        .replace("        spec", "      spec"),
        (9, 17, 9, 31),
        "`image` is indented deeper than `name` above it, which has a value already",
        "begin it in column 15, the column of `name`",
    ),
    (
        "key deeper than a plain value",
        "metadata:\n  name: x\n    labels: {}\n",
        (3, 5, 3, 15),
        "`labels` is indented deeper than `name` above it, which has a value already",
        "begin it in column 3, the column of `name`",
    ),
    (
        "tab",
        "a:\n\tb: 1\n",
        (2, 1, 2, 2),
        "a tab is used for indentation; YAML allows only spaces there",
        "replace the tab by spaces",
    ),
    (
        "tab after a dash",
        "a:\n-\tb: 1\n  c: 2\n",
        (2, 2, 2, 3),
        "a tab is used for indentation; YAML allows only spaces there",
        "replace the tab by spaces",
    ),
    (
        "NUL",
        "a: b\0\n",
        (1, 5, 1, 6),
        "control character U+0000",
        "delete it: YAML allows no control characters but tab and line breaks",
    ),
    (
        "too deep",
        "[" * 300,
        (1, 201, 1, 202),
        "nested more than 200 levels deep",
        "no Kubernetes object is that deep: look for brackets that are never closed",
    ),
    (
        "double quote",
        'a: 1\nb: "abc\nc: d\n',
        (2, 4, 2, 5),
        'the " that opens here is never closed',
        "close it",
    ),
    ("single quote", "a: 'abc\nc: d\n", (1, 4, 1, 5), "the ' that opens here is never closed", "close it"),
    (
        "quote open until the next document",
        'a: "x\n---\nb: 1\n',
        (1, 4, 1, 5),
        'the " that opens here is never closed',
        "close it",
    ),
    (
        "bracket",
        "a: [1, 2\nb: c\n",
        (1, 4, 1, 5),
        "the [ that opens here is never closed",
        "close it with ]",
    ),
    ("brace", "a: {b: 1\nc: d\n", (1, 4, 1, 5), "the { that opens here is never closed", "close it with }"),
    (
        "comma in JSON",
        '{"a": 1 "b": 2}',
        (1, 12, 1, 13),
        "a comma is missing before this, or a colon in the entry it belongs to",
        "separate entries with commas",
    ),
    (
        "tag of an alias",
        "a: &x 1\nb: !Of *x\n",
        (2, 8, 2, 9),
        "an alias cannot have a tag",
        "delete the tag, or write the value after it",
    ),
    (
        "an indented document",
        "a:\n  b: 1\n ---\nc: 1\n",
        (3, 2, 3, 5),
        "the --- that begins a document is indented",
        "begin the line with it",
    ),
    ("bracket too many", "a: [1, 2]]\n", (1, 10, 1, 11), "unexpected ]", "close what was opened, once"),
    (
        "alias",
        "a: *x\n",
        (1, 4, 1, 5),
        "alias *x has no anchor before it",
        "define the anchor with & above it, or put the value in quotes if it is text",
    ),
    (
        "no space after a colon",
        "a: 1\nb:2\nc: 3\n",
        (2, 1, 2, 4),
        "`b:` has no space after its colon, so the line is plain text",
        "write a space after the colon",
    ),
    (
        "no space after a dash",
        "a:\n-b\n-c: 1\n",
        (2, 1, 2, 3),
        '"-b" has no space after the dash, so it is not a list item',
        "write a space after the dash",
    ),
    (
        "colon in a value",
        "a: b: c\n",
        (1, 5, 1, 6),
        'the value of `a` contains ": ", which begins another mapping',
        "put the whole value in quotes",
    ),
    ("at sign", "a: @x\n", (1, 4, 1, 5), "a value cannot begin with @", "put the value in quotes"),
    (
        "asterisk",
        "a: *\n",
        (1, 5, 1, 6),
        "* begins an alias and & an anchor, and a name is missing after it",
        "put the value in quotes if it is text",
    ),
    (
        "indentation of nothing above",
        "a:\n    b: 1\n  c: 2\n",
        (3, 3, 3, 7),
        "this line is indented by 2 spaces, which matches no line above it",
        "align it with the keys it belongs to",
    ),
    (
        "key among list items",
        "a:\n  - b\n  c: d\n",
        (3, 3, 3, 7),
        "`c` is in a list but has no `- ` before it",
        "indent it under the list item above, or as deep as the list's own key",
    ),
    (
        "list item among keys",
        "a: 1\n- b\n",
        (2, 1, 2, 4),
        "this is a list item, but the next key of the mapping above is expected here",
        "indent it below the key it belongs to",
    ),
    (
        "list item beside its list",
        "a:\n  - b: 1\n    c: 2\n   - b: 3\n",
        (4, 4, 4, 10),
        "this list item is indented by 3 spaces, the one on line 2 by 2 spaces",
        "indent it by 2 spaces",
    ),
    (
        "list item before its list",
        "a:\n  - b\n - c\n",
        (3, 2, 3, 5),
        "this list item is indented by 1 space, the one on line 2 by 2 spaces",
        "indent it by 2 spaces",
    ),
    (
        "text block that ends early",
        "a: |\n   x\n  y\n",
        (3, 3, 3, 4),
        "this line is indented less than the first line of the text it belongs to",
        "indent every line of the text as deep as its first",
    ),
    (
        "apostrophe",
        "a: 'it's'\n",
        (1, 8, 1, 9),
        "there is text after the closing quote",
        "put the whole value in quotes; inside single quotes write '' for '",
    ),
    (
        "escape",
        'a: "\\d"\n',
        (1, 5, 1, 6),
        "in double quotes a backslash begins an escape, and this one is unknown",
        "use single quotes",
    ),
    (
        "merge conflict",
        "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n",
        (2, 1, 2, 13),
        "a merge conflict was left in the file",
        "choose one side and delete the lines <<<<<<<, ======= and >>>>>>>",
    ),
    (
        "second document",
        "a: 1\n---\nb:\n\tc: 1\n",
        (4, 1, 4, 2),
        "a tab is used for indentation; YAML allows only spaces there",
        "replace the tab by spaces",
    ),
    (
        "CRLF",
        "a: 1\r\nb:2\r\nc: 3\r\n",
        (2, 1, 2, 4),
        "`b:` has no space after its colon, so the line is plain text",
        "write a space after the colon",
    ),
    ("anything else", "a: !<x\n", (1, 7, 1, 8), "not valid YAML: did not find the expected '>'", ""),
]


@pytest.mark.parametrize(
    ("text", "span", "message", "advice"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_cause(text: str, span: tuple[int, int, int, int], message: str, advice: str) -> None:
    found = cause(text)
    assert (tuple(found.span), found.message, found.help) == (span, message, advice)


@pytest.mark.skipif(SHARED is None, reason="no seeds beside the checkout")
def test_the_gang_job_of_the_seeds_repaired_block_by_block() -> None:
    assert SHARED is not None
    text = (SHARED / "seeds/manifests/004-volcano-gang-job.yaml").read_text(encoding="utf-8")
    first = cause(text)
    assert first.span.line == 11
    assert "lines 11, 16 are" in first.help
    lines = text.splitlines(keepends=True)
    once = "".join(line.removeprefix("  ") if 10 < n <= 20 else line for n, line in enumerate(lines, 1))
    second = cause(once)
    assert (second.span.line, second.help) == (16, "begin it in column 13, the column of `name`")


@given(st.text(alphabet=" \n\t-:[]{}\"'#|>&*!%@abc", max_size=60))
def test_every_problem_is_explained_within_the_text(text: str) -> None:
    for parsed in parse(text):
        if parsed.problem:
            found = explain(text, parsed.problem, parsed.start_line)
            assert found.message
            assert 1 <= found.span.line <= text.count("\n") + 1
            assert found.span.column < found.span.end_column
