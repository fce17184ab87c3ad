"""The word somebody may have meant."""

from difflib import get_close_matches

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policykit.nearest import Names, are_numbered, nearest

WORDS = st.text("abc-", max_size=6)


@given(WORDS, st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.6, 0.75]))
def test_it_is_the_closest_match_of_difflib(word: str, known: list[str], likeness: float) -> None:
    assert nearest(word, tuple(known), likeness) == next(
        iter(get_close_matches(word, known, 1, likeness)), ""
    )


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("torch-h2o", ["torch-h20", "jax"], "torch-h20"),
        ("cahce", ["cache"], "cache"),
        ("gpu-nodes", ["gpu-node"], "gpu-node"),
        ("web-1", ["web-2", "web-3"], ""),
        ("team-a", ["team-b"], ""),
        ("torch", ["torch-volcano"], ""),
        ("prod", ["prod2"], ""),
    ],
)
def test_a_misspelt_word_is_one_edit_from_one_that_is_not_its_sibling(
    word: str, known: list[str], meant: str
) -> None:
    assert Names(known).misspelt(word) == meant


@pytest.mark.parametrize(
    ("one", "other", "numbered"),
    [
        ("web", "web-2", True),
        ("web-10", "web", True),
        ("web", "web2", False),
        ("web", "web-b", False),
        ("a-1", "b", False),
    ],
)
def test_words_that_differ_in_a_number(one: str, other: str, numbered: bool) -> None:
    assert are_numbered(one, other) is numbered
