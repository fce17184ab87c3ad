"""The word somebody may have meant."""

from difflib import get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from policykit.nearest import nearest

WORDS = st.text("abc-", max_size=6)


@given(WORDS, st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.6, 0.75]))
def test_it_is_the_closest_match_of_difflib(word: str, known: list[str], likeness: float) -> None:
    assert nearest(word, tuple(known), likeness) == next(
        iter(get_close_matches(word, known, 1, likeness)), ""
    )
