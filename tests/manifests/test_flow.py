"""Flow collections of one line: their values; their nodes are compared in test_block_reader.py."""

from __future__ import annotations

import pytest

from policykit.manifests import flow
from policykit.manifests.parsed_document import UnreadError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("{ }", {}),
        ("[a, 1, yes, ~, 'b']", ["a", 1, True, None, "b"]),
        ("{a: {b: [c, {d: 0.5}]}, e: f g}", {"a": {"b": ["c", {"d": 0.5}]}, "e": "f g"}),
        ("[a, ]", ["a"]),
        ("{a: 1, }", {"a": 1}),
        ("{'1': a, \"x y\": b}", {"1": "a", "x y": "b"}),
        ("[--a=b, -c, <d>]", ["--a=b", "-c", "<d>"]),
    ],
)
def test_values(text: str, value: object) -> None:
    assert flow.value(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "{",
        "[a",
        "{a: 1",
        "[}",
        "[a] b",
        "[a],",
        "[a b: c]",
        "{a}",
        "{a: }",
        "{a: 1 b: 2}",
        "[, a]",
        "{'': 1}",
    ],
)
def test_what_is_left(text: str) -> None:
    with pytest.raises(UnreadError):
        flow.value(text)
