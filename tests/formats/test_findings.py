"""Lines, offsets and paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.formats.findings import SourceFiles, relative
from policykit.manifests.node import BREAK


@pytest.mark.parametrize(
    ("offset", "place"),
    [(0, (1, 1)), (3, (1, 1)), (6, (1, 2)), (14, (1, 6)), (16, (2, 1)), (22, (2, 7))],
)
def test_places_behind_a_byte_order_mark(offset: int, place: tuple[int, int]) -> None:
    assert (
        SourceFiles(lambda path: "\ufeff名: 节点\r\nkind: Job\r\n".encode()).line_and_column("a", offset)
        == place
    )


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 50))
def test_a_place_leads_back(text: str, at: int) -> None:
    text, at = text.replace("\ufeff", ""), min(at, len(text))
    at = min(at, len(text))
    line, column = SourceFiles(lambda path: text.encode()).line_and_column("a", len(text[:at].encode()))
    if text[at - 1 : at + 1] != "\r\n":  # no place: it is within a break
        assert BREAK.split(text)[line - 1][: column - 1] == BREAK.split(text[:at])[-1]


@pytest.mark.parametrize(
    ("path", "root", "said"),
    [
        ("a/b.yaml", "", "a/b.yaml"),
        ("/repo/a/b.yaml", "/repo", "a/b.yaml"),
        ("/other/b.yaml", "/repo", "/other/b.yaml"),
        ("<stdin>", "", "<stdin>"),
    ],
)
def test_relative(path: str, root: str, said: str) -> None:
    assert relative(path, root) == said
