"""Excerpts: documents that show by three dots that something is left out."""

from __future__ import annotations

import pytest

from policykit.linter.abridged import is_abridged
from policykit.linter.partial import has_signs
from policykit.manifests.parser import parse


def verdicts(text: str) -> list[bool]:
    read = [parsed for parsed in parse(text) if parsed.root is not None]
    begin = [parsed.start_line if number else 0 for number, parsed in enumerate(read)]
    ends = [*begin[1:], text.count("\n") + 1]
    lines = text.split("\n")
    roots = [parsed.root for parsed in read if parsed.root is not None]
    return [is_abridged(*each) for each in zip(roots, [lines] * len(roots), begin, ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: ...\n", [True]),
        ("a: '...'\n", [True]),
        ("a: [b, ...]\n", [True]),
        ("a: {...}\n", [True]),
        ("a: \u2026\n", [True]),
        ("a: b\n# ...\n", [False]),
        ("a: b # ... and more\n", [False]),
        ("a:\n  # (...)\n  b: c\n", [False]),
        ("a:\n  ## <... as above>\n  b: c\n", [False]),
        ("a: b\n...\n", [True]),
        ("a: b\n...\nspec: {c: d}\n", [True]),
        ("---\na: b\n...\nspec: {c: d}\n", [True]),
        ("---\na: b\n...\n---\nc: d\n...\n", [False, False]),
        ("# licence\n---\na: b\n...\n", [False]),
        ("a: b\n---\nc: ...\n", [False, True]),
        ("a: ...\n---\nc: d\n", [True, False]),
        ("a: b\n# and so on ...\n", [False]),
        ("a: wait...\n", [False]),
        ("a: .. .\n", [False]),
        ("a: |\n  # ...\n  ...\nb: c\n", [False]),
        ('a: "x\n  # ...\n  y"\n', [False]),
        ("a: |\n  ...\n...\n", [True]),
        ("a: &a {b: c}\nd: [*a, *a, ...]\n", [True]),
    ],
)
def test_is_abridged(text: str, said: list[bool]) -> None:
    assert verdicts(text) == said
    assert has_signs(text) or not any(said)


def test_aliases_do_not_multiply_the_search() -> None:
    lines = ["a0: &a0 {x: y...}"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 15)]
    assert verdicts("\n".join(lines)) == [False]
